// The steps of a deployment: what each changes, whether it is there, and the reason of one that failed.
import { Link } from '@tanstack/react-router'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { Table, type Column } from '#console/parts/page/table.tsx'
import { Words } from '#console/parts/page/words.tsx'
import { ACTIONS, changeWords, pageOf, stateOfStep, toldChanges, type Step } from './deployment.ts'

export const Steps = (props: { readonly steps: readonly Step[]; readonly file: string }) => (
  <Table
    rows={props.steps}
    keyOf={({ address }) => address}
    columns={[nameColumn(props.file), ...COLUMNS]}
  />
)

const nameColumn = (file: string): Column<Step> => ({
  title: 'What',
  className: 'wrap-anywhere',
  cell: (step) => (
    <>
      <Name step={step} />
      <span className="under">
        {ACTIONS[step.action]}
        {toldChanges(step).map((change) => (
          <span key={change.attribute}>, {changeWords(step, change)}</span>
        ))}
      </span>
      {step.fault !== null && (
        <span className="tiny reason">
          {step.line !== null && `${file}:${step.line}:${step.column}: `}
          <Words text={step.fault.message} /> <span className="muted">({step.fault.code})</span>
        </span>
      )}
      {step.notes.map((note) => (
        <span key={note} className="tiny reason">
          {note}
        </span>
      ))}
    </>
  ),
})

function Name({ step }: { readonly step: Step }) {
  const page = pageOf(step)
  return page === undefined ? <b>{step.address}</b> : <Link to={page}>{step.address}</Link>
}

const COLUMNS: readonly Column<Step>[] = [
  { title: 'Action', className: 'wide-only', cell: ({ action }) => ACTIONS[action] },
  {
    title: 'Changes',
    className: 'wide-only wrap-anywhere',
    cell: (step) =>
      toldChanges(step).map((change) => (
        <div key={change.attribute} className="small">
          {changeWords(step, change)}
        </div>
      )),
  },
  { title: 'State', cell: (step) => <StateWord {...stateOfStep(step)} /> },
  { title: 'Took', className: 'num wide-only', cell: secondsOf },
]

function secondsOf({ started_at: from, ended_at: to }: Step): string {
  if (from === null || to === null) return ''
  return `${((Date.parse(to) - Date.parse(from)) / 1000).toFixed(1)} s`
}
