import type { NounFiles } from '../tenants/files/noun-files.js';
import { WIDGET } from './widget.description.js';
import { Widget } from './widget.entity.js';
import { WIDGET_RULES } from './widget.rules.js';
import type { WidgetStore } from './widget.store.js';

/** The files of widgets, as the import and the export see them. */
export function widgetFiles(store: WidgetStore): NounFiles {
  return {
    description: WIDGET,
    entity: Widget,
    parse: (input) => WIDGET_RULES.parse(input),
    async page(projectId, page) {
      const { widgets, hasNextPage } = await store.page(projectId, { state: null, ...page });
      const records = widgets.map(({ id, name, state }) => ({ id: String(id), name, state }));
      return { records, hasNextPage };
    },
  };
}
