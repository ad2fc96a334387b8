import type { ServiceCall } from '../ground/kernel/caller.js';
import type { WidgetService } from './widget.service.js';

/** Creates the widgets of the demo project. */
export async function seedWidgets(widgets: WidgetService, call: ServiceCall): Promise<void> {
  await widgets.create(call, { name: 'First widget', state: 'active' });
  await widgets.create(call, { name: 'Second widget', state: 'draft' });
  await widgets.create(call, { name: 'Third widget', state: 'archived' });
}
