"""What the board under the table and the computer say to each other."""
