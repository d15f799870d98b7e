/** Reads the migrations as a start does: two files with one number are found before they are merged. */
import { join } from 'node:path';
import { readMigrations } from '../src/kit/db/migrate.ts';

await readMigrations(join(import.meta.dirname, '../migrations'));
