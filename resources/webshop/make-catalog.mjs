// Makes resources/webshop/products.json and instructions.json: the catalog that WebShop has out of the box, in the schema
// of the original data files. Original texts, deterministic: running it again gives the same bytes.
//
//   node resources/webshop/make-catalog.mjs [FOLDER]
//
// Each kind of product has a dozen algorithms by different makers. Algorithms share most words and differ in attributes,
// options and price, and some attributes stand only in the features, so that a page has to be read before buying.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VARIANTS = 13;
const INSTRUCTED = 0.75;

/** mulberry32: enough for drawing, and the same everywhere. */
function generator(seed) {
  let a = seed >>> 0;
  const next = () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (count) => Math.floor(next() * count);
  const pick = (list) => list[below(list.length)];
  const some = (list, count) => {
    const rest = [...list];
    const chosen = [];
    while (chosen.length < count && rest.length > 0) chosen.push(...rest.splice(below(rest.length), 1));
    return chosen;
  };
  return { next, below, pick, some };
}

const list = (text) => text.split(',').map((item) => item.trim());

const MAKERS = list(
  'Alder & Finch, Brightmoor, Calla Works, Dunewood, Elmgate, Fernhill, Goldcrest, Harborline, Ivy Lane, Juniper Co, Kestrel, Lumen House, Marlow, Northbrook, Oakridge, Pinecone, Quillon, Rowan Street, Silverbirch, Tidewell, Umberland, Vesper, Willowmere, Yarrow',
);
const COLOURS = list(
  'black, white, navy, forest green, burgundy, light grey, mustard, rose gold, teal, beige, coral, lavender, chocolate, charcoal, ivory, sky blue',
);
const SIZES = list('x-small, small, medium, large, x-large, xx-large, 3x-large');

/**
 * Four lines a kind: category, query, place in the shop, noun in the title, prices; attributes said before the noun, after
 * `with` and after `for`; options; what it is good for.
 */
const KINDS = `
fashion | men's t-shirts | Clothing › Men › Shirts › T-Shirts | T-Shirt | $9–34
  machine wash, slim fit, quick drying, moisture wicking | short sleeve, crew neck, cotton spandex, polyester cotton | daily wear, gym workout
  Color: @colours | Size: @sizes | Fit Type: men, youth, tall
  A shirt that keeps its shape
fashion | women's sweaters | Clothing › Women › Sweaters › Pullovers | Pullover Sweater | $19–79
  hand wash, loose fit, light weight, machine washable | long sleeve, v neck, wool blend, button closure | daily wear, teen girls
  Color: @colours | Size: @sizes
  A warm knit for cool evenings
fashion | men's shorts | Clothing › Men › Shorts › Athletic | Athletic Shorts | $14–44
  quick drying, machine wash, regular fit, light weight | elastic waist, drawstring closure, polyester spandex, zipper pocket | gym workout, beach days
  Color: @colours | Size: @sizes
  Shorts with room to move
fashion | women's sandals | Clothing › Women › Shoes › Sandals | Flat Sandals | $17–65
  open toe, non slip, light weight, water resistant | rubber sole, ankle strap, arch support, memory foam | daily wear, beach days
  Color: @colours | Size: 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9
  A sandal for long summer walks
fashion | men's hiking boots | Clothing › Men › Shoes › Hiking | Hiking Boots | $45–160
  water resistant, non slip, steel toe, light weight | rubber sole, arch support, leather upper, lace closure | outdoor work, cold weather
  Color: @colours | Size: 7, 7.5, 8, 8.5, 9, 9.5, 10, 11, 12
  A boot for wet paths and long climbs
fashion | women's leggings | Clothing › Women › Activewear › Leggings | Yoga Leggings | $15–49
  high waist, tummy control, machine wash, squat proof | nylon spandex, side pocket, wide waistband, elastic waist | gym workout, yoga class
  Color: @colours | Size: @sizes | Style: full length, capri, bootcut
  Leggings that stay where they should
fashion | backpacks | Clothing › Luggage › Backpacks › Casual | Laptop Backpack | $24–90
  water resistant, carry on, light weight, high capacity | usb charging, laptop sleeve, padded straps, luggage strap | business trips, college students
  Color: @colours | Size: 13 inch, 15 inch, 17 inch
  A bag with a place for everything
beauty | shampoo | Beauty › Hair Care › Shampoo | Repair Shampoo | $8–38
  sulfate free, paraben free, cruelty free, color safe | argan oil, tea tree, coconut oil, natural ingredients | dry hair, damaged hair, oily scalp
  Size: 8 fl oz, 12 fl oz, 16 fl oz, 32 fl oz | Scent: lavender, citrus, vanilla, sage, unscented
  A gentle wash for every day
beauty | face moisturizers | Beauty › Skin Care › Face › Moisturizers | Daily Face Cream | $12–60
  fragrance free, oil free, dermatologist tested, anti aging | hyaluronic acid, vitamin c, shea butter, green tea | sensitive skin, dry skin, fine lines
  Size: 1 fl oz, 1.7 fl oz, 3.4 fl oz | Style: day cream, night cream, day and night set
  Moisture that lasts until evening
beauty | lip balms | Beauty › Skin Care › Lip Care › Balms | Tinted Lip Balm | $4–19
  cruelty free, long lasting, gluten free, non sticky | shea butter, vitamin e, seed oil, natural ingredients | dry lips, daily use
  Color: clear, soft pink, berry red, nude, coral, plum | Flavor Name: honey, mint, cherry, vanilla
  A little colour and a lot of care
beauty | makeup brushes | Beauty › Tools › Makeup Brushes › Sets | Makeup Brush Set | $9–45
  easy clean, cruelty free, easy carry, high quality | synthetic hair, wood handle, storage case, soft bristles | eye shadow, daily makeup
  Color: @colours | Size: 8 pieces, 12 pieces, 16 pieces, 24 pieces
  Brushes for every corner of the face
beauty | nail polish | Beauty › Nail Care › Polish › Gel | Gel Nail Polish | $6–32
  long lasting, easy apply, non toxic, quick drying | glossy finish, wide brush, plant extract | nail art, home salon
  Color: ruby red, ballet pink, midnight blue, emerald, pearl white, peach, violet, gold glitter | Size: single, 3 pack, 6 pack
  Colour that stays for two weeks
beauty | toothbrushes | Beauty › Oral Care › Toothbrushes › Manual | Bamboo Toothbrush | $5–22
  eco friendly, bpa free, plastic free, travel size | soft bristles, bamboo handle, charcoal bristles | sensitive teeth, oral hygiene
  Size: 2 count, 4 count, 8 count, 12 count | Color: natural, black, white, mixed
  A brush that leaves no plastic behind
electronics | phone cases | Electronics › Accessories › Cases › Bumpers | Phone Case | $8–36
  slim fit, heavy duty, scratch resistant, case friendly | wireless charging, screen protection, ring stand, air cushion | daily carry, outdoor work
  Color: @colours | Size: 5.4 inch, 5.8 inch, 6.1 inch, 6.7 inch
  A case that takes the fall
electronics | screen protectors | Electronics › Accessories › Screen Protectors › Glass | Screen Protector | $6–28
  easy install, bubble free, high definition, anti glare | tempered glass, alignment frame, privacy filter | daily carry, tablet drawing
  Size: 6.1 inch, 6.7 inch, 8 inch, 11 inch, 13 inch | Style: 2 pack, 3 pack, 5 pack
  Glass that keeps glass whole
electronics | bluetooth speakers | Electronics › Audio › Speakers › Portable | Portable Bluetooth Speaker | $19–130
  water resistant, long lasting, hands free, light weight | stereo sound, bass radiator, usb port, carry strap | beach days, home office
  Color: @colours | Style: single, stereo pair
  Music that fits into a coat pocket
electronics | headphones | Electronics › Audio › Headphones › Over Ear | Wireless Headphones | $25–220
  noise cancelling, long lasting, hands free, fast charging | memory foam, stereo sound, usb port, boom microphone | home office, long flights
  Color: @colours | Style: over ear, on ear, kids
  Quiet when it is loud
electronics | charging cables | Electronics › Accessories › Cables › USB | Charging Cable | $5–30
  fast charging, heavy duty, tangle free, high speed | braided nylon, aluminum alloy, data transfer | home office, car dashboard
  Color: black, grey, red, white, blue | Size: 1 foot, 3 feet, 6 feet, 10 feet | Style: single, 2 pack, 3 pack
  A cable that outlives the phone
electronics | tablet stands | Electronics › Accessories › Stands › Desktop | Tablet Stand | $12–55
  non slip, easy carry, height adjustable, heavy duty | aluminum alloy, silicone pads, foldable arm | home office, recipe reading
  Color: black, silver, space grey, rose gold | Style: short, tall, with clamp
  A steady hand for any screen
garden | throw blankets | Home & Kitchen › Bedding › Blankets › Throws | Throw Blanket | $16–75
  machine washable, super soft, eco friendly, light weight | fleece throw, tassel edge, cotton yarn, sherpa lining | living room, cold weather
  Color: @colours | Size: 40x50in, 50x60in, 60x80in, 90x90in
  Something warm within reach
garden | throw pillows | Home & Kitchen › Bedding › Pillows › Decorative | Decorative Pillow Cover | $7–30
  machine washable, double sided, super soft, eco friendly | hidden zipper, cotton linen, printed pattern | living room, outdoor bench
  Color: @colours | Size: 16x16in, 18x18in, 20x20in, 24x24in
  A new room for the price of a cushion
garden | table lamps | Home & Kitchen › Lighting › Lamps › Table | Table Lamp | $22–140
  easy assemble, energy saving, height adjustable, mid century | glass shade, wood base, usb port, pull chain | living room, home office
  Color: @colours | Style: single, set of 2
  Light where the book is
garden | bar stools | Home & Kitchen › Furniture › Bar Stools › Counter | Counter Stool | $60–320
  easy assemble, heavy duty, height adjustable, mid century | steel frame, faux leather, solid wood, foot rest | dining room, kitchen island
  Color: @colours | Size: 24 inch, 26 inch, 30 inch
  A seat at the right height
garden | storage baskets | Home & Kitchen › Storage › Baskets › Shelf | Storage Basket | $12–58
  easy clean, eco friendly, space saving, machine washable | rope handle, cotton rope, metal frame, lid cover | living room, laundry room
  Color: @colours | Size: small, medium, large, set of 3
  Order that looks like decoration
garden | curtains | Home & Kitchen › Window › Curtains › Panels | Window Curtain Panels | $15–95
  machine washable, energy saving, light blocking, noise reducing | rod pocket, grommet top, linen blend | living room, dining room
  Color: @colours | Size: 42x63in, 52x63in, 52x84in, 52x95in | Style: one panel, two panels
  Morning may wait outside
garden | plant pots | Home & Garden › Gardening › Pots › Planters | Ceramic Planter | $11–68
  easy clean, hand painted, weather resistant, non toxic | drainage hole, bamboo tray, wood stand | living room, balcony garden
  Color: @colours | Size: 4 inch, 6 inch, 8 inch, 10 inch
  A home for a quiet flatmate
grocery | trail mix | Grocery › Snacks › Nuts › Trail Mix | Trail Mix | $7–42
  gluten free, non gmo, low sodium, individually wrapped | dried fruit, roasted nuts, dark chocolate, plant protein | office snacks, long hikes
  Flavor Name: tropical, mountain, cranberry, mocha, spicy | Size: 8 ounce, 1 pound, 2 pounds, pack of 12
  A handful that holds until dinner
grocery | herbal tea | Grocery › Beverages › Tea › Herbal | Herbal Tea | $5–35
  caffeine free, certified organic, non gmo, sugar free | natural flavors, loose leaf, whole flowers | bedtime calm, gift baskets
  Flavor Name: chamomile, fennel, ginger lemon, hibiscus, rooibos | Size: 20 count, 40 count, 100 count
  A quiet end to the day
grocery | protein bars | Grocery › Snacks › Bars › Protein | Protein Bars | $10–58
  gluten free, low carb, high protein, soy free | almond butter, dark chocolate, natural ingredients, whey protein | gym workout, office snacks
  Flavor Name: peanut butter, cookie dough, salted caramel, berry, coconut | Size: 6 count, 12 count, 24 count
  Breakfast for people in a hurry
grocery | hot sauce | Grocery › Pantry › Sauces › Hot Sauce | Hot Sauce | $5–30
  gluten free, sugar free, certified organic, low sodium | real peppers, apple vinegar, roasted garlic | taco night, gift baskets
  Flavor Name: chipotle, habanero, jalapeno, smoky ghost, mango | Size: 5 ounce, 10 ounce, pack of 3
  Fire with manners
`;

function readKinds() {
  const lines = KINDS.trim().split('\n');
  return Array.from({ length: lines.length / 4 }, (_, i) => {
    const [first, second, third, promise] = lines.slice(4 * i, 4 * i + 4).map((line) => line.trim());
    const [category, query, path, noun, prices] = first.split(' | ');
    const [cheapest, dearest] = prices.slice(1).split('–').map(Number);
    const [before, withs, fors] = second.split(' | ').map(list);
    const named = { '@colours': COLOURS, '@sizes': SIZES };
    const options = Object.fromEntries(
      third.split(' | ').map((option) => {
        const [name, values] = option.split(': ');
        return [name, named[values] ?? list(values)];
      }),
    );
    return { category, query, path, noun, cheapest, dearest, before, withs, fors, options, promise };
  });
}

function make() {
  const random = generator(20250107);
  const asins = new Set();
  const products = [];
  const instructions = {};
  for (const { category, query, path, noun, cheapest, dearest, before, withs, fors, options, promise } of readKinds()) {
    const pools = { before, withs, fors };
    const makers = random.some(MAKERS, VARIANTS);
    for (const maker of makers) {
      const own = {
        before: random.some(pools.before, 2 + random.below(2)),
        withs: random.some(pools.withs, 1 + random.below(2)),
        fors: random.some(pools.fors, 1),
      };
      const asin = newAsin(random, asins);
      const choice = chooseOptions(random, options);
      products.push(makeProduct(random, { asin, category, query, path, noun, maker, own, choice, cheapest, dearest, promise }));
      const attributes = [...own.before, ...own.withs, ...own.fors];
      instructions[asin] = random.next() < INSTRUCTED ? { attributes, ...ask(random, query, own) } : { attributes };
    }
  }
  return { products, instructions };
}

function newAsin(random, taken) {
  const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZ0123456789';
  for (;;) {
    const asin = `LAB${Array.from({ length: 7 }, () => letters[random.below(letters.length)]).join('')}`;
    if (!taken.has(asin)) {
      taken.add(asin);
      return asin;
    }
  }
}

/** One product in eight comes as it is; the others offer all or all but one of the kind's options. */
function chooseOptions(random, options) {
  if (random.next() < 0.125) return '';
  const names = Object.keys(options);
  const dropped = names.length > 1 && random.next() < 0.3 ? random.below(names.length) : -1;
  const chosen = {};
  for (const [i, name] of names.entries()) {
    if (i === dropped) continue;
    const values = options[name];
    const kept = random.some(values, Math.min(values.length, 3 + random.below(4)));
    chosen[name] = values.filter((value) => kept.includes(value)).map((value) => ({ value, image: null }));
  }
  return chosen;
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);
const titleCase = (text) => text.split(' ').map(capital).join(' ');

function makeProduct(random, { asin, category, query, path, noun, maker, own, choice, cheapest, dearest, promise }) {
  // The title names about half of the attributes; the rest stands in the features.
  const told = random.some(own.before, 1 + random.below(2));
  const tail = random.next() < 0.6 ? ` with ${titleCase(own.withs[0])}` : '';
  const use = random.next() < 0.5 ? ` for ${titleCase(own.fors[0])}` : '';
  const name = `${maker} ${titleCase(told.join(' '))} ${noun}${tail}${use}`;
  const bullets = [
    `${promise}: ${own.before[0]}, made by ${maker} to be used, not to be admired.`,
    ...own.withs.map((attribute) => `${titleCase(attribute)}: the part that people mention first.`),
    `Chosen for ${own.fors.join(' and ')}; comes with a plain paper leaflet.`,
    ...own.before.slice(1).map((attribute) => `${titleCase(attribute)}, tested by ${maker} before it leaves the house.`),
  ];
  const description =
    random.next() < 0.75
      ? `${promise}. This ${noun.toLowerCase()} is ${own.before.join(', ')}. ${random.pick(['Questions are answered within two days.', 'Returns are free for thirty days.', 'Packed without plastic.'])}`
      : '';
  return {
    name,
    full_description: description,
    images: [],
    product_category: path,
    average_rating: '',
    small_description: random.next() < 0.95 ? bullets : bullets[0],
    customization_options: choice,
    asin,
    category,
    query,
    page: 1 + random.below(40),
    pricing: price(random, cheapest, dearest),
  };
}

/** Most prices are single ones, some are ranges, a few are unknown. */
function price(random, cheapest, dearest) {
  const draw = random.next();
  if (draw < 0.04) return '';
  const low = cheapest + random.next() * (dearest - cheapest);
  return draw < 0.2 ? `$${low.toFixed(2)} - $${(low * (1.1 + random.next() / 2)).toFixed(2)}` : `$${low.toFixed(2)}`;
}

/** `Find me machine wash men's t-shirts with short sleeve for daily wear`. */
function ask(random, query, own) {
  const said = {
    before: random.some(own.before, 1 + random.below(2)),
    withs: random.some(own.withs, random.below(3)),
    fors: random.next() < 0.4 ? own.fors : [],
  };
  const head = `Find me ${said.before.join(', ')} ${query}`;
  const middle = said.withs.length > 0 ? ` with ${said.withs.join(', ')}` : '';
  const end = said.fors.length > 0 ? ` for ${said.fors.join(', ')}` : '';
  return { instruction: head + middle + end, instruction_attributes: [...said.before, ...said.withs, ...said.fors] };
}

const folder = process.argv[2] ?? dirname(fileURLToPath(import.meta.url));
const { products, instructions } = make();
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'products.json'), `[\n${products.map((product) => JSON.stringify(product)).join(',\n')}\n]\n`);
writeFileSync(
  join(folder, 'instructions.json'),
  `{\n${Object.entries(instructions)
    .map(([asin, entry]) => `${JSON.stringify(asin)}: ${JSON.stringify(entry)}`)
    .join(',\n')}\n}\n`,
);
process.stdout.write(
  `${products.length} products, ${Object.values(instructions).filter((entry) => entry.instruction).length} with an instruction\n`,
);
