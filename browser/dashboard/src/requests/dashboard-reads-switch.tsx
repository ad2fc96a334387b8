interface Props {
  isShown: boolean;
  /** How many are hidden; null = not counted. */
  hidden: number | null;
  onSwitch: (isShown: boolean) => void;
}

/** Says whether reads of dashboards are among the requests of a page, and switches it. */
export function DashboardReadsSwitch({ isShown, hidden, onSwitch }: Props) {
  if (!isShown && hidden === 0) return null;
  const reads = hidden === null ? 'Reads' : hidden === 1 ? '1 read' : `${hidden} reads`;
  return (
    <p className="left-out muted">
      {isShown
        ? 'Reads of dashboards are shown.'
        : `${reads} of ${hidden === 1 ? 'a dashboard is' : 'dashboards are'} hidden.`}
      <button type="button" className="quiet small" onClick={() => onSwitch(!isShown)}>
        {isShown ? 'Hide' : 'Show'}
      </button>
    </p>
  );
}
