"""Learning to speed up structured output prediction (Pan and Srikumar 2018)."""
