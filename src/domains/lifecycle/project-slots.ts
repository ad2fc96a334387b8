interface Bounds {
  /** Maximum number of concurrent works. */
  most: number;
  /** Maximum number of concurrent works of one project. */
  mostOfProject: number;
}

/** Slots for work on domains, limited for each project, so that one project's slow domains do not block others. */
export class ProjectSlots {
  private readonly running = new Map<bigint, Promise<void>>();
  private readonly runningOf = new Map<bigint, number>();

  constructor(private readonly bounds: Bounds) {}

  get free(): number {
    return this.bounds.most - this.running.size;
  }

  /** Projects without a free slot. */
  fullProjects(): bigint[] {
    return [...this.runningOf].flatMap(([id, count]) => (count >= this.bounds.mostOfProject ? [id] : []));
  }

  hasRoomFor({ id, projectId }: { id: bigint; projectId: bigint }): boolean {
    const ofProject = this.runningOf.get(projectId) ?? 0;
    return this.free > 0 && !this.running.has(id) && ofProject < this.bounds.mostOfProject;
  }

  /** `work` must not reject. */
  start({ id, projectId }: { id: bigint; projectId: bigint }, work: () => Promise<void>): void {
    this.runningOf.set(projectId, (this.runningOf.get(projectId) ?? 0) + 1);
    const ended = work().finally(() => {
      this.running.delete(id);
      const left = (this.runningOf.get(projectId) ?? 1) - 1;
      if (left === 0) this.runningOf.delete(projectId);
      else this.runningOf.set(projectId, left);
    });
    this.running.set(id, ended);
  }

  async ended(): Promise<void> {
    await Promise.all(this.running.values());
  }
}
