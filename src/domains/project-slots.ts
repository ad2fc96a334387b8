interface Bounds {
  /** How many run at once. */
  most: number;
  /** How many of them may be of one project. */
  mostOfProject: number;
}

/** What runs for domains, with room for each project: one whose domains take long keeps nobody else's waiting. */
export class ProjectSlots {
  private readonly running = new Map<bigint, Promise<void>>();
  private readonly runningOf = new Map<bigint, number>();

  constructor(private readonly bounds: Bounds) {}

  get free(): number {
    return this.bounds.most - this.running.size;
  }

  /** Projects that may start nothing now. */
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
