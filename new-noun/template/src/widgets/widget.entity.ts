import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, ProjectOwned, TIME_MS, text } from '../ground/database/columns.js';
import type { WIDGET_STATES } from './widget.description.js';

export type WidgetState = (typeof WIDGET_STATES)[number];

/** A widget of a project. The primary key begins with the project, so a list is one range of an index. */
@Entity('widgets', { withoutRowid: true })
@Index('widgets_state', ['projectId', 'state', 'id'])
export class Widget extends ProjectOwned {
  @PrimaryColumn(ID)
  id!: bigint;

  @Column(text(200))
  name!: string;

  /** Null = not stated. */
  @Column({ ...text(16), nullable: true })
  state!: WidgetState | null;

  @Column({ ...TIME_MS, name: 'created_at_ms' })
  createdAtMs!: number;
}
