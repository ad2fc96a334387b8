import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, ProjectOwned, TIME_MS, text } from '../ground/database/columns.js';

export const PET_STATUSES = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof PET_STATUSES)[number];

/** Each index holds all columns, so a page of any list reads no row of the table. D-186. */
@Entity('pets', { withoutRowid: true })
@Index('pets_status', ['projectId', 'status', 'id', 'name', 'categoryId', 'createdAtMs'])
@Index('pets_name', ['projectId', 'name', 'id', 'categoryId', 'status', 'createdAtMs'])
@Index('pets_status_name', ['projectId', 'status', 'name', 'id', 'categoryId', 'createdAtMs'])
export class Pet extends ProjectOwned {
  @PrimaryColumn(ID)
  id!: bigint;

  @Column(text(255))
  name!: string;

  @Column({ ...ID, name: 'category_id' })
  categoryId!: bigint;

  /** Null = not stated: SPEC gives no default. */
  @Column({ ...text(16), nullable: true })
  status!: PetStatus | null;

  @Column({ ...TIME_MS, name: 'created_at_ms' })
  createdAtMs!: number;
}
