// @ts-check
// Texts that people read (window, command line, errors, settings, documentation, presets) use standard English and the field's terms:
// a few words that had become a private dialect are kept out. Comments and identifiers are not looked at.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseSync } from 'oxc-parser';

/** Each with what to write instead. @type {readonly (readonly [RegExp, string])[]} */
const DIALECT = [
  [/\b(tells?|told|telling)\b/i, 'say, show, report or send'],
  [/\bmend(s|ed)?\b/i, 'fix'],
  [/\b(go(es)?|went) on\b/i, 'continue or resume'],
  [/\bhow often\b/i, 'the probability, rate or number of'],
  [/\bdecisive\b/i, 'final'],
  [/\bwhat is left\b/i, 'the rest'],
  [/\bby hand\b/i, 'interactively, manually or yourself'],
  [/\bheld[- ]out tasks\b/i, 'validation tasks or test tasks'],
  [/(['’]s|\b(its|their|our|your)) own\b/i, 'leave “own” out; “a separate process”'],
];
/** Pages made from stored studies, whose frozen definitions keep their words; and a title. */
const EXCEPT = [
  'docs/STUDY.md',
  'docs/STUDY_LONG.md',
  'docs/AIDS.md',
  'docs/COLD_START_STUDY.md',
  'docs/study/',
  'docs/study_long/',
  'docs/aids/',
];
const ALLOWED = /^# Bring your own/;

/**
 * @param {string} root
 * @param {string} path
 * @param {RegExp} kind
 * @returns {string[]}
 */
function files(root, path, kind) {
  const full = join(root, path);
  if (!existsSync(full) || EXCEPT.some((start) => `${path}/`.startsWith(start))) return [];
  if (!statSync(full).isDirectory()) return kind.test(path) && !EXCEPT.includes(path) ? [path] : [];
  return readdirSync(full).flatMap((name) => files(root, `${path}/${name}`, kind));
}

/**
 * String literals, template parts and what stands between tags, each with where it begins.
 * @param {string} file
 * @param {string} source
 * @returns {[number, string][]}
 */
function textsOf(file, source) {
  /** @type {[number, string][]} */
  const found = [];
  /** @param {any} node */
  const visit = (node) => {
    if (typeof node !== 'object' || node === null) return;
    if ((node.type === 'Literal' || node.type === 'JSXText') && typeof node.value === 'string') found.push([node.start, node.value]);
    if (node.type === 'TemplateElement') found.push([node.start, node.value.raw]);
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(file, source).program);
  return found;
}

/**
 * All places with such a word, one line each.
 * @param {string} root
 * @returns {{ files: number, faults: string[] }}
 */
export function checkWords(root) {
  const sources = ['main', 'preload', 'renderer', 'scripts'].flatMap((folder) => files(root, folder, /\.(ts|tsx|mjs)$/));
  const pages = ['README.md', 'docs', 'main', 'resources/presets'].flatMap((path) => files(root, path, /\.(md|json)$/));
  const faults = [...sources, ...pages].flatMap((file) => {
    if (file === 'scripts/check-words.mjs') return [];
    const text = readFileSync(join(root, file), 'utf8');
    if (!DIALECT.some(([word]) => word.test(text))) return [];
    const line = (/** @type {number} */ at) => text.slice(0, at).split('\n').length;
    const parts = sources.includes(file)
      ? textsOf(file, text).map(([at, part]) => /** @type {const} */ ([line(at), part]))
      : text.split('\n').map((part, index) => /** @type {const} */ ([index + 1, part]));
    return parts.flatMap(([at, part]) =>
      DIALECT.flatMap(([word, instead]) => {
        const found = part.includes(' ') && !ALLOWED.test(part) ? word.exec(part) : null;
        return found ? [`${file}:${at} says “${found[0]}”: write ${instead}`] : [];
      }),
    );
  });
  return { files: sources.length + pages.length, faults };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { files: count, faults } = checkWords(process.argv[2] ?? dirname(import.meta.dirname));
  for (const fault of faults) console.log(fault);
  console.log(`${count} files, ${faults.length} against the wording`);
  process.exitCode = faults.length > 0 || count === 0 ? 1 : 0;
}
