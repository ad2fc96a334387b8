import { LessThan, MoreThan } from 'typeorm';
import { RecordTable } from '../ground/records/record-table.js';
import type { Widget } from './widget.entity.js';
import type { WidgetListRequest, WidgetPage } from './widget-list.js';

/** The table of widgets with its lists. */
export class WidgetStore extends RecordTable<Widget> {
  /** A page of widgets: one range of an index, also for late pages. It reads one row more than the page has. */
  async page(projectId: bigint, list: WidgetListRequest): Promise<WidgetPage> {
    const { state, orderBy, pageSize, afterId } = list;
    const behind = orderBy === 'OLDEST' ? MoreThan : LessThan;
    const widgets = await this.repository.find({
      where: {
        projectId,
        ...(state === null ? {} : { state }),
        ...(afterId === null ? {} : { id: behind(afterId) }),
      },
      order: { id: orderBy === 'OLDEST' ? 'ASC' : 'DESC' },
      take: pageSize + 1,
    });
    const hasNextPage = widgets.length > pageSize;
    return { widgets: widgets.slice(0, pageSize), hasNextPage };
  }
}
