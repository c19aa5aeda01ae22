"""PhyWorld: 2D worlds with known laws, their videos, and how well a video obeys the laws."""
