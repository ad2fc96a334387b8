interface Selector {
  metric: string;
  matchers: { label: string; operator: string; value: string }[];
}

export interface Expression {
  selectors: Selector[];
  /** Labels in `by`, `without`, `on`, `ignoring` and `group_left`. */
  groupedBy: string[];
}

const SELECTOR = /([a-z_:][\w:]*)\s*(?:\{([^}]*)\})?(?!\s*\(|\w)/gi;
const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const WORDS = new Set(['and', 'or', 'unless', 'by', 'without', 'on', 'ignoring', 'bool', 'offset', 'inf']);

/** Reads the names of an expression in PromQL. `promtool` checks the syntax. */
export function readExpression(text: string): Expression {
  const groupedBy = [...text.matchAll(GROUPING)].flatMap(([, labels = '']) => words(labels));
  const ungrouped = text.replace(GROUPING, ' ').replace(/\[[^\]]*\]/g, ' ');
  const selectors = [...ungrouped.matchAll(SELECTOR)]
    .filter(([, metric = '']) => !WORDS.has(metric.toLowerCase()))
    .map(([, metric = '', matchers = '']) => ({ metric, matchers: matchersIn(matchers) }));
  return { selectors, groupedBy };
}

function matchersIn(text: string): Selector['matchers'] {
  return [...text.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)].map(
    ([, label = '', operator = '', value = '']) => ({ label, operator, value }),
  );
}

const words = (text: string) => text.split(',').flatMap((word) => word.trim() || []);
