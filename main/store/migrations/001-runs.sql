-- Runs and what they recorded: metrics, episodes with their steps and tokens, events, checkpoints.
-- Columns of type ANY hold a number or the text 'NaN': SQLite would otherwise turn NaN into NULL.

CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,             -- the same in every database the run is exported to
  name TEXT NOT NULL,
  world TEXT NOT NULL,
  variant TEXT NOT NULL,
  preset TEXT,
  seed INTEGER NOT NULL,
  device TEXT NOT NULL,
  config TEXT NOT NULL,                 -- canonical JSON
  config_hash TEXT NOT NULL,            -- sha256 of config without its name
  group_hash TEXT NOT NULL,             -- … and without its seed: equal for the seeds of one variant
  versions TEXT NOT NULL,               -- JSON: astrolab, electron, onnxruntime, platform
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'paused', 'stopping', 'stopped', 'done', 'failed', 'interrupted')),
  reason TEXT,                          -- why it is in that state, in words
  position REAL,                        -- order in the queue while queued
  pause_at INTEGER,                     -- pause after this update ("one more update")
  planned INTEGER NOT NULL DEFAULT 0,   -- updates the config asks for
  updates INTEGER NOT NULL DEFAULT 0,   -- last complete update
  episodes INTEGER NOT NULL DEFAULT 0,
  tokens INTEGER NOT NULL DEFAULT 0,
  seconds REAL NOT NULL DEFAULT 0,      -- time spent training
  last_k INTEGER, last_n INTEGER,       -- successes of the latest held-out evaluation
  best_k INTEGER, best_n INTEGER, best_update INTEGER,
  spark BLOB,                           -- a few (update u32, train success f32) pairs for the list
  notes TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,          -- ms since 1970
  started_at INTEGER,
  finished_at INTEGER,
  deleted_at INTEGER                    -- in the trash since
) STRICT;
CREATE INDEX runs_by_state ON runs (state, position);
CREATE INDEX runs_by_group ON runs (group_hash);

CREATE TABLE run_tags (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (run_id, tag)
) STRICT, WITHOUT ROWID;

-- Who trains a run now. A lock whose processes are gone is stale.
CREATE TABLE run_locks (
  run_id INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  owner_pid INTEGER NOT NULL,
  owner_started TEXT NOT NULL,
  trainer_pid INTEGER,
  trainer_started TEXT,
  taken_at INTEGER NOT NULL
) STRICT;

-- Short strings that occur over and over (task ids, categories, metric names), as numbers.
CREATE TABLE labels (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
) STRICT;

-- Long strings that occur more than once (observations, facts), kept once, deflated where that saves.
CREATE TABLE texts (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,            -- first 16 bytes of the text's sha256
  deflated INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT;

-- Metrics: the newest updates lie in metric_tail (one row an update, cheap to append) and move in blocks into
-- metric_chunks (one row per metric and block, cheap to read).
CREATE TABLE metric_tail (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  update_no INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (run_id, update_no)
) STRICT, WITHOUT ROWID;

CREATE TABLE metric_chunks (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  metric INTEGER NOT NULL,              -- labels.id
  first_update INTEGER NOT NULL,
  last_update INTEGER NOT NULL,
  points INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX metric_chunks_by_run ON metric_chunks (run_id, metric, first_update);

-- Raw samples behind a distribution chart (V*, advantages), float32.
CREATE TABLE distributions (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  metric INTEGER NOT NULL,
  update_no INTEGER NOT NULL,
  samples BLOB NOT NULL,
  PRIMARY KEY (run_id, metric, update_no)
) STRICT, WITHOUT ROWID;

-- id = run_id * 2^32 + number, so the episodes of a run lie side by side on disk.
CREATE TABLE episodes (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  recorded INTEGER NOT NULL,            -- the update it was recorded in
  acted INTEGER NOT NULL,               -- the update whose weights acted (0: the reference)
  purpose INTEGER NOT NULL,             -- labels.id, as are split, task, category, tier and failure
  split INTEGER NOT NULL,
  task INTEGER NOT NULL,
  category INTEGER NOT NULL,
  tier INTEGER NOT NULL,
  failure INTEGER,
  seed INTEGER NOT NULL,
  success INTEGER NOT NULL,
  return ANY NOT NULL,
  vstar ANY,
  advantage ANY,
  surprise ANY NOT NULL,                -- mean of -ln π over the agent's tokens
  steps INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  final_text INTEGER NOT NULL,          -- texts.id: what the world said last
  actions TEXT NOT NULL                 -- one a line, step by step; a line break or backslash inside one is escaped
) STRICT;
CREATE INDEX episodes_by_update ON episodes (run_id, recorded);

CREATE TABLE steps (
  episode_id INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  observation INTEGER NOT NULL,         -- texts.id
  thought TEXT NOT NULL,
  reward ANY NOT NULL,
  reason INTEGER NOT NULL,              -- labels.id
  valid INTEGER NOT NULL,
  facts INTEGER NOT NULL,               -- texts.id of canonical JSON
  PRIMARY KEY (episode_id, step)
) STRICT, WITHOUT ROWID;

-- All token numbers of an episode, packed by store/pack.ts.
CREATE TABLE episode_tokens (
  episode_id INTEGER PRIMARY KEY REFERENCES episodes (id) ON DELETE CASCADE,
  data BLOB NOT NULL
) STRICT;

-- Marks on the charts and lines of the log.
CREATE TABLE events (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  update_no INTEGER NOT NULL,
  time INTEGER NOT NULL,
  kind TEXT NOT NULL,
  severity TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'error')),
  text TEXT NOT NULL,
  data TEXT NOT NULL                    -- canonical JSON
) STRICT;
CREATE INDEX events_by_run ON events (run_id, update_no);

-- A row exists only after its file is safely on disk.
CREATE TABLE checkpoints (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  update_no INTEGER NOT NULL,
  file TEXT NOT NULL,                   -- relative to the data folder
  sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  kept INTEGER NOT NULL,                -- 1: survives the pruning of old ones
  created_at INTEGER NOT NULL,
  PRIMARY KEY (run_id, update_no)
) STRICT, WITHOUT ROWID;
