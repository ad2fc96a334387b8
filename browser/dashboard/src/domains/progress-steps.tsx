import { Check, Circle, LoaderCircle, type LucideIcon, TriangleAlert } from 'lucide-react';
import type { StepState } from './status-in-words.js';

const NAMES = ['DNS', 'Certificate', 'Active'];
const WORDS: Record<StepState, string> = {
  done: 'done',
  now: 'in progress',
  waiting: 'not yet',
  failed: 'needs attention',
};
const MARKS: Record<StepState, LucideIcon> = {
  done: Check,
  now: LoaderCircle,
  waiting: Circle,
  failed: TriangleAlert,
};

export function ProgressSteps({ steps }: { steps: readonly StepState[] }) {
  return (
    <ol className="steps">
      {steps.map((state, index) => {
        const Mark = MARKS[state];
        return (
          <li
            key={NAMES[index]}
            className={`step step-${state}`}
            aria-current={state === 'now' ? 'step' : undefined}
          >
            <span className="step-mark" aria-hidden="true">
              <Mark size={16} />
            </span>
            <span className="step-name">{NAMES[index]}</span>
            <span className="step-state">{WORDS[state]}</span>
          </li>
        );
      })}
    </ol>
  );
}
