// What the world showed, drawn as a page: results, an item, a purchase. What the agent did with it is marked: the product
// it clicked or bought next, and the one the task is after (which the agent is not told).

import type { DrawnPage, Product } from '../../preload/contract/replay.ts';
import { Icon } from '../components/icons.tsx';
import { Badge } from '../components/stat.tsx';
import util from '../theme/utilities.module.css';
import styles from './shop-page.module.css';

/** The product that the next action names, if it names one. */
function named(action: string | undefined): { id: string; verb: string } | null {
  const parts = /^(click|buy)\s*\[?([^\]\s]+)\]?$/i.exec(action ?? '');
  return parts ? { verb: (parts[1] ?? '').toLowerCase(), id: (parts[2] ?? '').toLowerCase() } : null;
}

export function ShopPage({ page, action }: { page: DrawnPage; action: string | undefined }) {
  const next = named(action);
  switch (page.kind) {
    case 'start':
      return (
        <div className={styles.start}>
          <span className={util.faint}>The user wants</span>
          <p className={styles.instruction}>{page.instruction}</p>
          {page.note && <p className={util.muted}>{page.note}</p>}
          <SearchBox action={action} />
        </div>
      );
    case 'results':
      return (
        <div className={styles.shop}>
          <SearchBox action={action} />
          <p className={util.muted}>
            {page.total} {page.total === 1 ? 'result' : 'results'}
            {page.products.length < page.total && page.products.length > 0 && `, the first ${page.products.length} shown`}
            {page.page > 1 && `, page ${page.page}`}
          </p>
          <ol className={styles.products}>
            {page.products.map((product) => (
              <ProductCard key={product.id} product={product} verb={next?.id === product.id.toLowerCase() ? next.verb : null} />
            ))}
          </ol>
          {page.products.length === 0 && <p className={util.muted}>No results.</p>}
        </div>
      );
    case 'item': {
      const { product } = page;
      return (
        <div className={styles.shop}>
          <div className={styles.item} data-target={product.target || undefined}>
            <div className={styles.itemHead}>
              <strong className={styles.itemName}>{product.name}</strong>
              <span className={styles.price}>{product.price}</span>
            </div>
            {page.description && <p>{page.description}</p>}
            <p className={util.muted}>{[product.category, product.id && `Product ${product.id}`].filter(Boolean).join(' · ')}</p>
            {page.options.length > 0 && (
              <ul className={styles.options}>
                {page.options.map((option, index) => (
                  <li key={index}>{option}</li>
                ))}
              </ul>
            )}
            <div className={styles.marks}>
              {product.target && <Badge tone="accent">target</Badge>}
              {next?.id === product.id.toLowerCase() && next.verb === 'buy' && <Badge icon="chevronRight">buys it next</Badge>}
            </div>
          </div>
        </div>
      );
    }
    case 'bought':
      return (
        <div className={styles.start}>
          <Icon name={page.right === false ? 'cross' : 'check'} size={22} />
          <span className={util.faint}>Bought</span>
          <p className={styles.instruction}>{page.name}</p>
          {page.right !== null && (
            <Badge tone={page.right ? 'success' : 'failure'}>{page.right ? 'correct product' : 'wrong product'}</Badge>
          )}
        </div>
      );
    case 'text':
      return <pre className={styles.raw}>{page.text}</pre>;
  }
}

function ProductCard({ product, verb }: { product: Product; verb: string | null }) {
  return (
    <li className={styles.product} data-target={product.target || undefined} data-next={verb ?? undefined}>
      <span className={styles.productName}>{product.name}</span>
      <span className={styles.marks}>
        {product.target && <Badge tone="accent">target</Badge>}
        {verb && <Badge icon="chevronRight">{verb === 'buy' ? 'buys it next' : 'clicks it next'}</Badge>}
      </span>
      <span className={util.muted}>{product.category}</span>
      <span className={styles.productId}>{product.id}</span>
      <span className={styles.price}>{product.price}</span>
    </li>
  );
}

/** What the agent types next, where it searches. */
function SearchBox({ action }: { action: string | undefined }) {
  const words = /^search\s*\[?(.*?)\]?$/i.exec(action ?? '')?.[1];
  return (
    <div className={styles.searchBox} data-used={words !== undefined || undefined}>
      <Icon name="search" size={14} />
      <span>{words ?? 'Search the shop'}</span>
      {words !== undefined && <Badge icon="chevronRight">searches next</Badge>}
    </div>
  );
}
