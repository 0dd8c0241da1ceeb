"""How the networks in vision/models were made; needs the extra `train`, and is not part of the installed package."""
