// Small byte-level BPE tokenizers in the standard form, trained here on a few texts, with the special tokens and chat template of ChatML.

interface BpeOptions {
  readonly merges: number;
  /** Where texts are cut before merging; a merge never crosses a cut. */
  readonly pattern: RegExp;
}

const SPECIAL = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];

/** Every byte as the printable character that byte-level tokenizers write it as. */
export const BYTE_CHARACTERS = (() => {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    return String.fromCodePoint(printable ? byte : next++);
  });
})();

/** tokenizer.json and its settings. */
export function trainBpe(texts: readonly string[], { merges, pattern }: BpeOptions) {
  const words = texts
    .flatMap((text) => text.match(pattern) ?? [])
    .map((word) => [...Buffer.from(word)].map((byte) => BYTE_CHARACTERS[byte] ?? ''));
  const vocabulary = [...SPECIAL, ...BYTE_CHARACTERS];
  const learned: [string, string][] = [];
  for (let round = 0; round < merges; round++) {
    const counts = new Map<string, number>();
    for (const word of words)
      for (let i = 0; i + 1 < word.length; i++) counts.set(`${word[i]} ${word[i + 1]}`, (counts.get(`${word[i]} ${word[i + 1]}`) ?? 0) + 1);
    const [best] = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    if (!best) break;
    const [left = '', right = ''] = best[0].split(' ');
    learned.push([left, right]);
    if (!vocabulary.includes(left + right)) vocabulary.push(left + right);
    for (const word of words)
      for (let i = 0; i + 1 < word.length; i++) if (word[i] === left && word[i + 1] === right) word.splice(i, 2, left + right);
  }
  return {
    size: vocabulary.length,
    tokenizer: {
      version: '1.0',
      added_tokens: SPECIAL.map((content, id) => ({
        id,
        content,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
        special: true,
      })),
      normalizer: null,
      pre_tokenizer: {
        type: 'Sequence',
        pretokenizers: [
          { type: 'Split', pattern: { Regex: pattern.source }, behavior: 'Isolated', invert: false },
          { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
        ],
      },
      post_processor: null,
      decoder: { type: 'ByteLevel' },
      model: { type: 'BPE', vocab: Object.fromEntries(vocabulary.map((token, id) => [token, id])), merges: learned, ignore_merges: false },
    },
    settings: { eos_token: '<|im_end|>', chat_template: CHATML },
  };
}

const CHATML =
  "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

const CORPUS = [
  'search red running shoes under $50 and slim blue jeans for men',
  'buy 12 click 3 buy 497 search classic blanket, search wireless headphones',
  'Found 21 results. Top 5: Slim Red Running Shoes shoes $89 37; Red Rubber Running Shoes shoes $199 35',
  'TASK: User wants to buy classic blanket. Available: 497 products across 8 categories.',
];

/** Three ways of cutting: every byte separately, words with the space before them and single digits, and pieces that cross spaces. */
export const TOKENIZERS = {
  bytes: () => trainBpe(CORPUS, { merges: 0, pattern: /[\s\S]/gu }),
  words: () => trainBpe(CORPUS, { merges: 60, pattern: /\p{N}| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+/gu }),
  phrases: () => trainBpe(CORPUS, { merges: 120, pattern: /[^.;:]+|[.;:]/gu }),
} as const;
