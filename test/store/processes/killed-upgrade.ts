// Opens the data folder that argv names, and is killed on the way: when the second run of an upgrade is rewritten.

import Sqlite from 'better-sqlite3';
import { Store } from '../../../main/store/store.ts';

const [folder = ''] = process.argv.slice(2);
const prepare = Sqlite.prototype.prepare;
Reflect.set(Sqlite.prototype, 'prepare', function (this: Sqlite.Database, sql: string) {
  const statement: Sqlite.Statement = Reflect.apply(prepare, this, [sql]);
  if (!sql.startsWith('UPDATE runs SET config = ')) return statement;
  let calls = 0;
  const run = statement.run.bind(statement);
  return Object.assign(statement, {
    run: (...values: unknown[]) => {
      if (++calls === 2) process.kill(process.pid, 'SIGKILL');
      return run(...values);
    },
  });
});
Store.open(folder).close();
