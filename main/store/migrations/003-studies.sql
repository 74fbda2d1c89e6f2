-- Studies (named sets of runs that are compared) and the lab's own settings.

CREATE TABLE studies (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE,
  notes TEXT NOT NULL DEFAULT '',
  plan TEXT NOT NULL DEFAULT '{}',      -- canonical JSON: the presets, seeds and grid it is made from, how it is grouped
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE study_runs (
  study_id INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  PRIMARY KEY (study_id, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX study_runs_by_run ON study_runs (run_id);

CREATE TABLE settings (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL                   -- canonical JSON
) STRICT, WITHOUT ROWID;
