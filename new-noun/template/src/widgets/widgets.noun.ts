import type { Noun } from '../noun.js';
import { seedWidgets } from './widget.demo.js';
import { WIDGET } from './widget.description.js';
import { Widget } from './widget.entity.js';
import { WIDGET_RULES } from './widget.rules.js';
import { WidgetService } from './widget.service.js';
import { WidgetStore } from './widget.store.js';
import { Widgets1790000000000 } from './widgets.migration.js';

/** Widgets, as the platform sees them. */
export const widgets: Noun = {
  description: WIDGET,
  entities: [Widget],
  migrations: [Widgets1790000000000],
  open({ db, ids, idempotency, versions, changes, now }) {
    const service = new WidgetService(new WidgetStore(Widget, db, versions, changes), ids, idempotency, now);
    return {
      service,
      files: { description: WIDGET, entity: Widget, parse: (input) => WIDGET_RULES.parse(input) },
      seedDemo: (call) => seedWidgets(service, call),
      async openDoors() {
        const [{ WidgetResolver }, { widgetsRoutes }] = await Promise.all([
          import('./graphql/widget.resolver.js'),
          import('./rest/widgets.routes.js'),
        ]);
        return {
          plural: WIDGET.plural,
          resolver: new WidgetResolver(service),
          routes: (app, baseUrl) => widgetsRoutes(app, service, baseUrl),
        };
      },
    };
  },
  async contract() {
    const [{ WidgetResolver }, { WIDGETS_DOCUMENT }] = await Promise.all([
      import('./graphql/widget.resolver.js'),
      import('./rest/widgets.document.js'),
    ]);
    return { plural: WIDGET.plural, resolver: WidgetResolver, rest: WIDGETS_DOCUMENT };
  },
};
