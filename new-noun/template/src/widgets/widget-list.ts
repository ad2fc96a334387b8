import { KeysetCursors } from '../ground/kernel/keyset-cursors.js';
import { MAX_PAGE_SIZE } from '../ground/kernel/validation.js';
import { WIDGET } from './widget.description.js';
import type { Widget, WidgetState } from './widget.entity.js';

export const WIDGET_ORDERS = ['OLDEST', 'NEWEST'] as const;
export type WidgetOrder = (typeof WIDGET_ORDERS)[number];

export const PAGE_SIZE = { minimum: 1, maximum: MAX_PAGE_SIZE, default: 20 } as const;

export const pageSizeSchema = {
  type: 'integer',
  ...PAGE_SIZE,
  description: 'Maximum number of widgets returned.',
  rule: `must be a whole number from ${PAGE_SIZE.minimum} to ${PAGE_SIZE.maximum}`,
} as const;

/** The widgets of a project that match the filter, ordered by id. */
export interface WidgetList {
  state: WidgetState | null;
  orderBy: WidgetOrder;
}

export interface WidgetListRequest extends WidgetList {
  pageSize: number;
  /** The page begins behind this id; null = at the first widget. */
  afterId: bigint | null;
}

export interface WidgetPage {
  widgets: Widget[];
  hasNextPage: boolean;
}

/** The cursors of a list. No other list accepts them. */
export function cursorsOf({ state, orderBy }: WidgetList): KeysetCursors {
  return new KeysetCursors(WIDGET, [orderBy, state]);
}
