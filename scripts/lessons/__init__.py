"""Lives of lessons in a made-up time: what `lessons-experiment` and `lessons-year` share."""
