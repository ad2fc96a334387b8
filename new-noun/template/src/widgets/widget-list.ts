import { KeysetCursors } from '../ground/kernel/keyset-cursors.js';
import type { ListOrder } from '../ground/kernel/validation.js';
import { WIDGET } from './widget.description.js';
import type { Widget, WidgetState } from './widget.entity.js';

/** The widgets of a project that match the filter, ordered by id. */
export interface WidgetList {
  state: WidgetState | null;
  orderBy: ListOrder;
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
