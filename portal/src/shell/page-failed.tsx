// A page that failed by itself: a fault of the console. The board stays, so that the others can be reached.
import type { ErrorComponentProps } from '@tanstack/react-router'
import { Copy } from '#console/parts/copy.tsx'
import { Head } from './head.tsx'

export const PageFailed = ({ error, reset }: ErrorComponentProps) => (
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
