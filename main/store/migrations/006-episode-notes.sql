-- What a person noted about an episode: a star, a comment. It goes with the episode when a run returns to an earlier checkpoint.

CREATE TABLE episode_notes (
  episode_id INTEGER PRIMARY KEY REFERENCES episodes (id) ON DELETE CASCADE,
  starred INTEGER NOT NULL,
  comment TEXT NOT NULL,
  changed_at INTEGER NOT NULL           -- ms since 1970
) STRICT;
