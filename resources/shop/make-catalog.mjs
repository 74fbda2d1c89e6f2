// Makes resources/shop/catalog.json: 497 products in 8 categories, the synonyms, and which product belongs to which split
// and curriculum level. Original data, deterministic: running it again gives the same bytes.
//
//   node resources/shop/make-catalog.mjs [FOLDER]
//
// The catalog is made so that a search alone never decides. Every noun has a family of 7 or 8 products over three
// modifiers A, B, C whose names contain each other (A, AB, ABC …); products with the very same name differ in price or in
// category (marked ' here), so that only the constraint in the task distinguishes them:
//   P  A B C AB AC BC ABC ABC'        Q  A A' B AB BC ABC ABC'        R  A A' B B' C AB ABC ABC'   (' is in another category)
// At most five names contain all the words of any name, so what is wanted always fits into the top five results.

import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** mulberry32: enough for shuffling, and the same everywhere. */
function generator(seed) {
  let a = seed >>> 0;
  const next = () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (count) => Math.floor(next() * count);
  const shuffle = (list) => {
    const copy = [...list];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = below(i + 1);
      [copy[i], copy[j]] = [copy[j], copy[i]];
    }
    return copy;
  };
  return { next, below, shuffle, pick: (list) => list[below(list.length)] };
}

// Modifiers by their place in a name: style before colour before material.
const STYLES = [
  'classic',
  'modern',
  'vintage',
  'compact',
  'large',
  'slim',
  'premium',
  'simple',
  'elegant',
  'rugged',
  'soft',
  'warm',
  'quiet',
  'wireless',
  'waterproof',
  'foldable',
];
const BOOK_STYLES = ['illustrated', 'pocket', 'complete', 'short', 'advanced', 'hardcover'];
const COLOURS = ['red', 'blue', 'black', 'white', 'green', 'grey', 'brown', 'turquoise', 'purple', 'yellow'];
const MATERIALS = ['leather', 'wool', 'cotton', 'steel', 'wooden', 'bamboo', 'ceramic', 'glass', 'canvas', 'rubber'];
const ORDER = [...STYLES, ...BOOK_STYLES, 'striped', ...COLOURS, ...MATERIALS];

// noun, template, its three modifiers (A B C), price band range, what it is good for; R names its second category.
const FAMILIES = {
  shoes: [
    ['running shoes', 'P', 'red slim rubber', 2, 5, 'running'],
    ['loafers', 'P', 'black classic leather', 2, 5, 'work'],
    ['boots', 'P', 'waterproof brown leather', 2, 5, 'hiking'],
    ['sandals', 'Q', 'simple yellow rubber', 0, 3, 'summer'],
    ['heels', 'P', 'elegant red leather', 2, 5, 'parties'],
    ['clogs', 'P', 'white wooden soft', 0, 4, 'gardens'],
    ['cleats', 'Q', 'rugged blue premium', 1, 4, 'sports'],
    ['slippers', 'R', 'warm grey wool', 0, 3, 'evenings', 'home'],
  ],
  electronics: [
    ['headphones', 'P', 'wireless black premium', 1, 5, 'music'],
    ['speaker', 'P', 'wireless compact wooden', 1, 5, 'music'],
    ['keyboard', 'Q', 'quiet slim white', 1, 4, 'work'],
    ['mouse', 'P', 'quiet wireless grey', 0, 3, 'work'],
    ['charger', 'Q', 'compact foldable black', 0, 3, 'travel'],
    ['camera', 'P', 'waterproof vintage compact', 3, 5, 'travel'],
    ['monitor', 'Q', 'large modern slim', 3, 5, 'work'],
    ['timer', 'R', 'simple white steel', 0, 3, 'cooking', 'kitchen'],
  ],
  apparel: [
    ['shirt', 'P', 'striped blue cotton', 0, 4, 'work'],
    ['jacket', 'P', 'waterproof green rugged', 2, 5, 'hiking'],
    ['sweater', 'P', 'warm brown wool', 1, 5, 'winter'],
    ['jeans', 'Q', 'slim black classic', 1, 4, 'weekends'],
    ['dress', 'P', 'elegant purple cotton', 1, 5, 'parties'],
    ['hoodie', 'Q', 'soft grey cotton', 1, 4, 'weekends'],
    ['skirt', 'Q', 'vintage striped red', 0, 4, 'summer'],
    ['socks', 'R', 'warm striped wool', 0, 3, 'winter', 'shoes'],
  ],
  home: [
    ['blanket', 'Q', 'wool classic striped', 0, 4, 'evenings'],
    ['pillow', 'P', 'soft white cotton', 0, 4, 'sleep'],
    ['curtain', 'P', 'modern green cotton', 0, 4, 'windows'],
    ['rug', 'P', 'large turquoise wool', 2, 5, 'floors'],
    ['vase', 'P', 'elegant blue ceramic', 0, 4, 'flowers'],
    ['candle', 'P', 'large purple simple', 0, 3, 'evenings'],
    ['towel', 'R', 'soft turquoise cotton', 0, 3, 'bathing', 'fitness'],
    ['lamp', 'R', 'modern wooden black', 1, 4, 'reading', 'electronics'],
  ],
  fitness: [
    ['dumbbells', 'P', 'compact steel black', 1, 4, 'strength'],
    ['mat', 'P', 'foldable purple rubber', 0, 4, 'stretching'],
    ['rope', 'P', 'simple red cotton', 0, 3, 'jumping'],
    ['bench', 'Q', 'foldable premium steel', 3, 5, 'strength'],
    ['roller', 'P', 'rugged turquoise rubber', 0, 3, 'stretching'],
    ['band', 'Q', 'soft yellow rubber', 0, 3, 'stretching'],
    ['ball', 'Q', 'large green classic', 0, 3, 'sports'],
    ['gloves', 'R', 'black leather slim', 0, 4, 'training', 'apparel'],
  ],
  kitchen: [
    ['pan', 'P', 'large ceramic black', 1, 4, 'cooking'],
    ['kettle', 'P', 'quiet vintage steel', 1, 4, 'tea'],
    ['mug', 'P', 'white ceramic large', 0, 3, 'tea'],
    ['knife', 'P', 'rugged steel classic', 0, 4, 'cooking'],
    ['bowl', 'Q', 'bamboo blue simple', 0, 3, 'soup'],
    ['toaster', 'P', 'vintage green compact', 1, 4, 'breakfast'],
    ['blender', 'Q', 'compact quiet glass', 2, 5, 'breakfast'],
    ['bottle', 'R', 'steel green slim', 0, 3, 'water', 'fitness'],
  ],
  accessories: [
    ['backpack', 'P', 'turquoise waterproof canvas', 1, 5, 'travel'],
    ['wallet', 'P', 'slim brown leather', 0, 4, 'money'],
    ['sunglasses', 'P', 'vintage black bamboo', 0, 4, 'summer'],
    ['umbrella', 'P', 'foldable yellow large', 0, 3, 'rain'],
    ['scarf', 'P', 'purple wool elegant', 0, 4, 'winter'],
    ['hat', 'P', 'brown canvas classic', 0, 3, 'summer'],
    ['watch', 'R', 'elegant steel modern', 3, 5, 'work', 'electronics'],
    ['belt', 'R', 'brown leather premium', 0, 4, 'work', 'apparel'],
  ],
  books: [
    ['novel', 'P', 'vintage short hardcover', 0, 3, 'evenings'],
    ['cookbook', 'P', 'illustrated complete modern', 0, 3, 'cooking'],
    ['atlas', 'P', 'large illustrated hardcover', 1, 4, 'travel'],
    ['dictionary', 'P', 'pocket complete advanced', 0, 4, 'learning'],
    ['guide', 'Q', 'pocket illustrated short', 0, 3, 'travel'],
    ['biography', 'P', 'short complete classic', 0, 3, 'reading'],
    ['anthology', 'P', 'modern advanced hardcover', 0, 4, 'reading'],
    ['journal', 'R', 'leather pocket blue', 0, 3, 'writing', 'accessories'],
  ],
};

const CATEGORIES = Object.keys(FAMILIES);

// What people say → what the shop calls it.
const SYNONYMS = {
  // nouns
  sneakers: 'running shoes',
  trainers: 'running shoes',
  moccasins: 'loafers',
  wellingtons: 'boots',
  flipflops: 'sandals',
  stilettos: 'heels',
  spikes: 'cleats',
  mules: 'slippers',
  earphones: 'headphones',
  loudspeaker: 'speaker',
  keypad: 'keyboard',
  adapter: 'charger',
  camcorder: 'camera',
  screen: 'monitor',
  stopwatch: 'timer',
  blouse: 'shirt',
  coat: 'jacket',
  pullover: 'sweater',
  denims: 'jeans',
  gown: 'dress',
  sweatshirt: 'hoodie',
  stockings: 'socks',
  throw: 'blanket',
  cushion: 'pillow',
  drape: 'curtain',
  carpet: 'rug',
  taper: 'candle',
  light: 'lamp',
  weights: 'dumbbells',
  pad: 'mat',
  cord: 'rope',
  strap: 'band',
  mitts: 'gloves',
  skillet: 'pan',
  teapot: 'kettle',
  cup: 'mug',
  blade: 'knife',
  dish: 'bowl',
  mixer: 'blender',
  flask: 'bottle',
  rucksack: 'backpack',
  billfold: 'wallet',
  shades: 'sunglasses',
  parasol: 'umbrella',
  shawl: 'scarf',
  cap: 'hat',
  timepiece: 'watch',
  sash: 'belt',
  story: 'novel',
  recipes: 'cookbook',
  maps: 'atlas',
  lexicon: 'dictionary',
  handbook: 'guide',
  memoir: 'biography',
  collection: 'anthology',
  diary: 'journal',
  // modifiers
  timeless: 'classic',
  contemporary: 'modern',
  retro: 'vintage',
  small: 'compact',
  big: 'large',
  thin: 'slim',
  deluxe: 'premium',
  basic: 'simple',
  stylish: 'elegant',
  tough: 'rugged',
  fluffy: 'soft',
  cozy: 'warm',
  silent: 'quiet',
  cordless: 'wireless',
  rainproof: 'waterproof',
  collapsible: 'foldable',
  pictured: 'illustrated',
  mini: 'pocket',
  full: 'complete',
  brief: 'short',
  expert: 'advanced',
  bound: 'hardcover',
  stripy: 'striped',
  crimson: 'red',
  navy: 'blue',
  ebony: 'black',
  ivory: 'white',
  emerald: 'green',
  slate: 'grey',
  chestnut: 'brown',
  teal: 'turquoise',
  violet: 'purple',
  golden: 'yellow',
  hide: 'leather',
  woollen: 'wool',
  metal: 'steel',
  timber: 'wooden',
  cane: 'bamboo',
  porcelain: 'ceramic',
  crystal: 'glass',
  latex: 'rubber',
};

// Price bands; the limits that tasks name ($20, $35, $50, $80, $120) lie between them.
const BANDS = [
  [9, 12, 15, 19],
  [24, 29, 34],
  [39, 45, 49],
  [55, 65, 75],
  [89, 99, 109],
  [129, 149, 199],
];

const TEMPLATES = {
  P: ['A', 'B', 'C', 'AB', 'AC', 'BC', 'ABC', "ABC'"],
  Q: ['B', 'AB', 'BC', 'A', "A'", 'ABC', "ABC'"],
  R: ['C', 'AB', 'A', "A'", 'B', "B'", 'ABC', "ABC'"],
};

const KNOWN_IDS = { 1: 'Red Running Shoes', 31: 'Black Loafers', 201: 'Classic Blanket', 378: 'Turquoise Backpack' };
const LEVEL_SIZES = [10, 50, 100];

const title = (text) => text.replace(/(^| )[a-z]/g, (letter) => letter.toUpperCase());

/** All products of all families, without ids. */
function makeProducts(random) {
  const products = [];
  for (const category of CATEGORIES) {
    for (const [noun, template, modifierText, low, high, purpose, other] of FAMILIES[category]) {
      const modifiers = modifierText.split(' ');
      const bands = new Map();
      for (const code of TEMPLATES[template]) {
        const second = code.endsWith("'");
        const letters = code.replace("'", '');
        const words = [...letters].map((letter) => modifiers['ABC'.indexOf(letter)]).sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b));
        // Two of one name never share a price band, so a limit between them exists.
        let band = low + random.below(high - low + 1);
        if (second) while (band === bands.get(letters)) band = low + random.below(high - low + 1);
        bands.set(letters, band);
        products.push({
          name: title([...words, noun].join(' ')),
          noun,
          category: second && other ? other : category,
          price: random.pick(BANDS[band]),
          description: `Good for ${purpose}.`,
          kind: TEMPLATES[template].includes(`${letters}'`) ? (other ? 'category' : 'price') : 'unique',
          family: `${category}/${noun}`,
        });
      }
    }
  }
  return products;
}

/** Ids run through the categories; within one they are shuffled, except those that were fixed before. */
function giveIds(products, random) {
  let id = 1;
  for (const category of CATEGORIES) {
    const own = random.shuffle(products.filter((product) => product.category === category));
    for (const product of own) product.id = id++;
  }
  for (const [known, name] of Object.entries(KNOWN_IDS)) {
    const product = products.find((candidate) => candidate.name === name);
    const holder = products.find((candidate) => candidate.id === Number(known));
    if (product.category !== holder.category || product.kind !== 'unique')
      throw new Error(`id ${known} cannot be ${name}: it falls into ${holder.category}`);
    [product.id, holder.id] = [holder.id, product.id];
  }
}

/** 60 / 20 / 20 by name, dealt out within each category and kind, so that all of them are represented everywhere. */
function giveSplits(products, random) {
  const pattern = ['train', 'validation', 'train', 'test', 'train'];
  const strata = new Map();
  for (const product of products) {
    const stratum = product.kind === 'category' ? 'category' : `${product.kind}/${product.family.split('/')[0]}`;
    if (!strata.has(stratum)) strata.set(stratum, new Set());
    strata.get(stratum).add(product.name);
  }
  // Names of one family stand together, so the pattern runs through each family as well.
  const splitOf = new Map();
  for (const names of strata.values()) {
    const offset = random.below(5);
    const nounOf = (name) => products.find((product) => product.name === name).noun;
    const nouns = random.shuffle([...new Set([...names].map(nounOf))]);
    const order = nouns.flatMap((noun) => random.shuffle([...names].filter((name) => nounOf(name) === noun)));
    order.forEach((name, index) => splitOf.set(name, pattern[(index + offset) % 5]));
  }
  for (const product of products) product.split = splitOf.get(product.name);
}

/** Level 0: ten different nouns; 1: five of each of those; 2: the families of 13 nouns; 3: everything. */
function giveLevels(products) {
  const families = [...new Set(products.map((product) => product.family))];
  const chosen = [];
  for (let place = 0; chosen.length < 14; place++) {
    for (const category of CATEGORIES) chosen.push(families.filter((family) => family.startsWith(`${category}/`))[place]);
  }
  const members = chosen.map((family) => products.filter((product) => product.family === family));
  const order = [
    ...members.slice(0, 10).map((list) => list[0]),
    ...members.slice(0, 10).flatMap((list) => list.slice(1, 5)),
    ...members.slice(0, 10).flatMap((list) => list.slice(5)),
    ...members.slice(10).flat(),
  ];
  for (const product of products) product.level = LEVEL_SIZES.length;
  order.forEach((product, index) => {
    const level = LEVEL_SIZES.findIndex((size) => index < size);
    if (level >= 0) product.level = level;
  });
}

/** What must hold of the splits: enough of everything, and no word that occurs only in what is held out. */
function problem(products) {
  const count = (test) => products.filter(test).length;
  if (count((p) => p.split === 'test') < 96 || count((p) => p.split === 'validation') < 96) return 'too few held-out products';
  for (const word of new Set(products.flatMap((product) => product.name.split(' ')))) {
    if (count((p) => p.split === 'train' && p.name.split(' ').includes(word)) < 3) return `${word} is rare in training`;
  }
  for (const split of ['train', 'validation', 'test']) {
    for (const category of CATEGORIES) {
      if (count((p) => p.split === split && p.category === category) < 10) return `${split} has too little of ${category}`;
      if (count((p) => p.split === split && p.category === category && p.kind !== 'unique') < 3)
        return `${split} has too few constraints in ${category}`;
    }
    for (let level = 0; level < 3; level++)
      if (count((p) => p.split === split && p.level === level) === 0) return `${split} has nothing at level ${level}`;
  }
  const blankets = products.filter((product) => product.noun === 'blanket').sort((a, b) => a.shelf - b.shelf);
  if (blankets.length !== 7 || blankets.findIndex((product) => product.id === 201) >= 5) return '201 is not among the first five blankets';
  return undefined;
}

let products;
let seed = 0;
for (let why = 'start'; why !== undefined; why = problem(products)) {
  const random = generator(++seed);
  if (seed > 10000) throw new Error(`no seed gives a valid catalog; last problem: ${why}`);
  products = makeProducts(random);
  giveIds(products, random);
  giveLevels(products);
  giveSplits(products, random);
  random.shuffle(products).forEach((product, index) => (product.shelf = index + 1));
}

products.sort((a, b) => a.id - b.id);
const rows = products.map(({ id, name, noun, category, price, description, split, level, shelf }) =>
  JSON.stringify({ id, name, noun, category, price, description, split, level, shelf }),
);
const text = `{
"about": "Made by resources/shop/make-catalog.mjs; original data. shelf: the fixed order of equally good results.",
"categories": ${JSON.stringify(CATEGORIES)},
"synonyms": ${JSON.stringify(SYNONYMS)},
"products": [
${rows.join(',\n')}
]
}
`;
const folder = process.argv[2] ?? dirname(fileURLToPath(import.meta.url));
writeFileSync(join(folder, 'catalog.json'), text);
console.log(`${products.length} products (seed ${seed}), ${Object.keys(SYNONYMS).length} synonyms → ${folder}/catalog.json`);
