// A page that failed by itself: a fault of the console, or its service stays away. The board stays, so that the others can be
// reached.
import type { ErrorComponentProps } from '@tanstack/react-router'
import { isProblem } from '#console/client/problem.ts'
import { Copy } from '#console/parts/page/copy.tsx'
import { ProblemNote } from '#console/parts/page/loaded.tsx'
import { StatusLink } from '#console/parts/page/status-link.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { Head } from './head.tsx'
import { reloadOnceAnswering } from './load-page.ts'

export const PageFailed = (props: ErrorComponentProps) =>
  isProblem(props.error, 'unreachable') ? <Away /> : <Fault {...props} />

/** After the console has asked for ten minutes by itself. */
function Away() {
  const action = useAction(reloadOnceAnswering)
  return (
    <>
      <Head title="This page does not answer" />
      <div className="stack" role="alert">
        <div className="note bad">
          <p>
            <b>The service has not answered for ten minutes. </b>
            Nothing of your account is lost. The page is not asked for by itself any more.
          </p>
        </div>
        {action.error !== undefined && <ProblemNote error={action.error} title="Not yet" />}
        <div className="tools">
          <button type="button" className="btn" disabled={action.isBusy} onClick={action.run}>
            Ask again
          </button>
          <StatusLink className="btn" />
        </div>
      </div>
    </>
  )
}

const Fault = ({ error, reset }: ErrorComponentProps) => (
  <>
    <Head title="This page failed" />
    <div className="stack" role="alert">
      <div className="note bad">
        <p>
          <b>A fault of the console, not of your account. </b>
          {wordsOf(error).split('\n', 1)}
        </p>
      </div>
      <div className="tools">
        <button type="button" className="btn small" onClick={reset}>
          Try again
        </button>
        <Copy
          className="btn small"
          label="Copy details"
          text={`${location.pathname}\n${wordsOf(error)}`}
        />
      </div>
    </div>
  </>
)

const wordsOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error)
