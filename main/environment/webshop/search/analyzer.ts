// Text to search terms, as Lucene 8's English analyzer does it: the standard tokenizer (Unicode word breaks, emoji are
// words too), possessive 's off, lower case, 33 stop words out, Porter stems. Both products and queries go through
// here, so a difference from Lucene would show as a different result page. Every pattern runs in linear time.

import { stemmer } from 'stemmer';

const STOP_WORDS = new Set(
  'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with'.split(
    ' ',
  ),
);

/** Lucene cuts longer words into pieces of this many characters. */
const LONGEST_WORD = 255;

// Word-break classes of Unicode Annex 29, written with the properties that JavaScript knows.
const SOUTH_EAST_ASIAN = String.raw`[[\p{sc=Thai}\p{sc=Lao}\p{sc=Myanmar}\p{sc=Khmer}\p{sc=Tai_Le}\p{sc=New_Tai_Lue}\p{sc=Tai_Tham}\p{sc=Tai_Viet}\p{sc=Ahom}]&&[\p{L}\p{M}]]`;
const EXTEND = String.raw`[\p{Grapheme_Extend}\p{Mc}[\p{Cf}--\u200B]\u200C\u200D]`;
const KATAKANA = String.raw`[\p{sc=Katakana}\u3031-\u3035\u309B\u309C\u30A0\u30FC\uFF70]`;
const HEBREW = String.raw`[\p{sc=Hebrew}&&\p{Lo}]`;
const LETTER = String.raw`[[\p{Alphabetic}\u05F3]--[\p{Ideographic}\p{sc=Han}\p{sc=Hiragana}${KATAKANA}${SOUTH_EAST_ASIAN}\p{Grapheme_Extend}\p{Mc}]]`;
const NUMERIC = String.raw`[\p{Nd}\u066B]`;
const MIDDLE_OF_WORD = String.raw`[.\u2018\u2019\u2024\uFE52\uFF07\uFF0E'\:\u00B7\u0387\u05F4\u2027\uFE13\uFE55\uFF1A]`;
const MIDDLE_OF_NUMBER = String.raw`[.\u2018\u2019\u2024\uFE52\uFF07\uFF0E',;\u037E\u0589\u060C\u060D\u066C\u07F8\u2044\uFE10\uFE14\uFE50\uFE54\uFF0C\uFF1B]`;
const JOINER = String.raw`[\p{Pc}\u202F]`;

const x = `${EXTEND}*`;
const katakanaRun = `${KATAKANA}${x}(?:(?:${JOINER}${x})*${KATAKANA}${x})*`;
const hebrewQuote = `${HEBREW}${x}(?:'${x}|"${x}${HEBREW}${x})`;
const numberRun = `${NUMERIC}${x}(?:(?:(?:${JOINER}${x})*|${MIDDLE_OF_NUMBER}${x})${NUMERIC}${x})*`;
const letterRun = `${LETTER}${x}(?:(?:(?:${JOINER}${x})*|${MIDDLE_OF_WORD}${x})${LETTER}${x})*`;
const core = `(?:${katakanaRun}|(?:${hebrewQuote}|${numberRun}|${letterRun})+)`;
// The look-behinds keep a run of joiners without a word from being tried again from each of its characters.
const word = `(?:(?=${JOINER})(?<!${JOINER}${x})(?:${JOINER}${x})+)?${core}(?:(?:${JOINER}${x})+${core})*(?:${JOINER}${x})*`;

// Extended_Pictographic of Unicode 11, which Lucene 8 uses; later versions dropped marks such as ★ that products carry.
const EMOJI =
  String.raw`[\xA9\xAE\u203C\u2049\u2122\u2139\u2194-\u2199\u21A9\u21AA\u231A\u231B\u2328\u2388\u23CF\u23E9-\u23F3\u23F8-\u23FA` +
  String.raw`\u24C2\u25AA\u25AB\u25B6\u25C0\u25FB-\u25FE\u2600-\u2605\u2607-\u2612\u2614-\u2685\u2690-\u2705\u2708-\u2712\u2714\u2716` +
  String.raw`\u271D\u2721\u2728\u2733\u2734\u2744\u2747\u274C\u274E\u2753-\u2755\u2757\u2763-\u2767\u2795-\u2797\u27A1\u27B0\u27BF` +
  String.raw`\u2934\u2935\u2B05-\u2B07\u2B1B\u2B1C\u2B50\u2B55\u3030\u303D\u3297\u3299\u{1F000}-\u{1F0FF}\u{1F10D}-\u{1F10F}\u{1F12F}` +
  String.raw`\u{1F16C}-\u{1F171}\u{1F17E}\u{1F17F}\u{1F18E}\u{1F191}-\u{1F19A}\u{1F1AD}-\u{1F1E5}\u{1F201}-\u{1F20F}\u{1F21A}\u{1F22F}` +
  String.raw`\u{1F232}-\u{1F23A}\u{1F23C}-\u{1F23F}\u{1F249}-\u{1F3FA}\u{1F400}-\u{1F53D}\u{1F546}-\u{1F64F}\u{1F680}-\u{1F6FF}` +
  String.raw`\u{1F774}-\u{1F77F}\u{1F7D5}-\u{1F7FF}\u{1F80C}-\u{1F80F}\u{1F848}-\u{1F84F}\u{1F85A}-\u{1F85F}\u{1F888}-\u{1F88F}` +
  String.raw`\u{1F8AE}-\u{1F8FF}\u{1F90C}-\u{1F93A}\u{1F93C}-\u{1F945}\u{1F947}-\u{1FFFD}]`;
const MODIFIER = String.raw`[\u{1F3FB}-\u{1F3FF}]`;
const y = String.raw`(?:(?!\u200D+[${EMOJI}${MODIFIER}])[${EXTEND}--[\uFE0E\uFE0F]])*`;
const emojiUnit = String.raw`(?:${EMOJI}${y}(?:${MODIFIER}${y}|\uFE0F)?|${MODIFIER}${y})`;
const emoji = String.raw`(?:(?<!\u200D)\u200D+)?${emojiUnit}(?:(?:\u200D+${emojiUnit})+|[\u{E0020}-\u{E007E}]+\u{E007F})?|[0-9#*]${y}\uFE0F?\u20E3${y}|(?:\p{Regional_Indicator}${x}){2}`;

const TOKEN = new RegExp(`${word}|${emoji}|(?:${SOUTH_EAST_ASIAN}${x})+|[\\p{sc=Han}\\p{sc=Hiragana}]${x}`, 'gv');
const POSSESSIVE = /['\u2019\uFF07][sS]$/;

// What an ASCII character can be inside a word. Most text is ASCII, and a table is several times faster than the pattern.
const [OTHER, LETTER_CLASS, DIGIT_CLASS, JOINER_CLASS, BETWEEN_LETTERS, BETWEEN_DIGITS, BETWEEN_BOTH] = [0, 1, 2, 3, 4, 5, 6];
const CLASSES = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z]/i.test(character)) return LETTER_CLASS;
  if (/\d/.test(character)) return DIGIT_CLASS;
  if (character === '_') return JOINER_CLASS;
  if (character === ':') return BETWEEN_LETTERS;
  if (character === ',' || character === ';') return BETWEEN_DIGITS;
  return character === '.' || character === "'" ? BETWEEN_BOTH : OTHER;
});

/** Words never contain white space, so a text may be cut there; pieces with other characters go through the pattern. */
const PIECE = /[^ \t\n\r]+/g;
const BEYOND_ASCII = /[\u0080-\uFFFF]/;

/** The words of a text as Lucene's standard tokenizer cuts them, before any filter. */
export function tokenize(text: string): string[] {
  const tokens: string[] = [];
  const add = (token: string): void => {
    if (token.length <= LONGEST_WORD) tokens.push(token);
    else for (let from = 0; from < token.length; from += LONGEST_WORD) tokens.push(token.slice(from, from + LONGEST_WORD));
  };
  for (const [piece] of text.matchAll(PIECE)) {
    if (BEYOND_ASCII.test(piece)) for (const [token] of piece.matchAll(TOKEN)) add(token);
    else addAscii(piece, add);
  }
  return tokens;
}

function addAscii(piece: string, add: (token: string) => void): void {
  const classAt = (at: number): number => (at < piece.length ? (CLASSES[piece.charCodeAt(at)] ?? OTHER) : OTHER);
  let at = 0;
  while (at < piece.length) {
    const start = at;
    let holdsWord = false;
    for (; at < piece.length; at++) {
      const here = classAt(at);
      if (here === LETTER_CLASS || here === DIGIT_CLASS) holdsWord = true;
      else if (here !== JOINER_CLASS) {
        const around = at > start && classAt(at - 1) === classAt(at + 1) ? classAt(at - 1) : OTHER;
        const joinsLetters = around === LETTER_CLASS && (here === BETWEEN_LETTERS || here === BETWEEN_BOTH);
        const joinsDigits = around === DIGIT_CLASS && (here === BETWEEN_DIGITS || here === BETWEEN_BOTH);
        if (!joinsLetters && !joinsDigits) break;
      }
    }
    if (holdsWord) add(piece.slice(start, at));
    at++;
  }
}

/** Terms of the words met so far; empty for stop words. */
const terms = new Map<string, string>();
const MOST_TERMS = 300_000;

function termOf(token: string): string {
  const word = token.replace(POSSESSIVE, '').toLowerCase();
  return word === '' || STOP_WORDS.has(word) ? '' : stemmer(word);
}

/** A part of a text keeps the whole text in memory; what is kept for long has to be copied. */
const copied = (part: string): string => Buffer.from(part, 'utf16le').toString('utf16le');

/** The terms under which a text is found, in order, repeated as often as they occur. */
export function analyze(text: string): string[] {
  const found: string[] = [];
  for (const token of tokenize(text)) {
    let term = terms.get(token);
    if (term === undefined) {
      const own = copied(token);
      term = termOf(own);
      if (terms.size >= MOST_TERMS) terms.clear();
      terms.set(own, term);
    }
    if (term !== '') found.push(term);
  }
  return found;
}
