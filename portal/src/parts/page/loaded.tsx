// The states of a read: loading, failed, there. A part of a page that fails leaves the others as they are.
import type { UseQueryResult } from '@tanstack/react-query'
import { useEffect, useState, type ReactNode } from 'react'
import { Copy } from './copy.tsx'
import { StatusLink } from './status-link.tsx'
import { Words } from './words.tsx'
import { isCancelled, isProblem, type Problem } from '#console/client/problem.ts'

const QUIET_MS = 200
const SLOW_MS = 5_000

/** `what` names the part in sentences: "the ledger". */
export function Loaded<Data>(props: {
  readonly query: UseQueryResult<Data>
  readonly what: string
  readonly children: (data: Data) => ReactNode
}) {
  const { query, what, children } = props
  if (query.data !== undefined) {
    const failed = query.isError ? <Failed query={query} what={what} /> : null
    return (
      <>
        {failed}
        {children(query.data)}
      </>
    )
  }
  return query.isError || query.failureCount > 0 ? (
    <Failed query={query} what={what} />
  ) : (
    <Waiting what={what} />
  )
}

/** Nothing for 200 ms, then a still grey strip; after 5 s it says which part does not answer. */
export function Waiting({ what }: { readonly what: string }) {
  const [stage, setStage] = useState<'quiet' | 'waiting' | 'slow'>('quiet')
  useEffect(() => {
    const timers = [
      setTimeout(() => setStage('waiting'), QUIET_MS),
      setTimeout(() => setStage('slow'), SLOW_MS),
    ]
    return () => timers.forEach(clearTimeout)
  }, [])
  if (stage === 'quiet') return <div className="waiting" />
  return (
    <div className="stack">
      <div className="strip still" role="progressbar" aria-label={`Loading ${what}`} />
      {stage === 'slow' && (
        <p className="small muted">{capital(what)} does not answer yet. It comes by itself.</p>
      )}
    </div>
  )
}

type Failing = Pick<UseQueryResult<unknown>, 'error' | 'failureReason' | 'refetch' | 'isFetching'>

function Failed({ query, what }: { readonly query: Failing; readonly what: string }) {
  const error = query.error ?? query.failureReason
  const willRetry = query.error === null
  return (
    <div className="stack" role="alert">
      <ProblemNote error={error} title={titleOf(error, what)} isRead willRetry={willRetry} />
      <div className="tools">
        {!isMissing(error) && (
          <button
            type="button"
            className="btn small"
            disabled={query.isFetching && !willRetry}
            onClick={() => void query.refetch()}
          >
            Ask now
          </button>
        )}
        {isProblem(error) && (
          <Copy className="btn small" label="Copy details" text={details(error)} />
        )}
        {!isMissing(error) && <StatusLink className="btn small" />}
      </div>
    </div>
  )
}

const NOT_FOUND = 404
const isMissing = (error: unknown): boolean => isProblem(error) && error.status === NOT_FOUND

/** A thing that does not exist answers; only silence and faults of the service do not. */
function titleOf(error: unknown, what: string): string {
  if (!isProblem(error) || error.status === 0 || error.status >= 500)
    return `${capital(what)} does not answer`
  return isMissing(error) && !what.startsWith('the list')
    ? `There is no such ${what.replace('the ', '')}`
    : `${capital(what)} could not be read`
}

/** The code and the sentence of a problem; a right that is missing says who can give it. */
export function ProblemNote(props: {
  readonly error: unknown
  readonly title?: string
  /** The reader asked to see something, and did not act. */
  readonly isRead?: boolean
  readonly willRetry?: boolean
}) {
  const { error, title, isRead = false, willRetry = false } = props
  if (isCancelled(error))
    return (
      <p className="small muted" role="status">
        Nothing was chosen. Try again when you are ready.
      </p>
    )
  const known = isProblem(error) ? error : undefined
  return (
    <div className="note bad">
      <p>
        {known !== undefined && isForbidden(known, isRead) ? (
          <b>You may not {isRead ? 'see' : 'do'} this. </b>
        ) : (
          title !== undefined && <b>{title}. </b>
        )}
        <Words
          text={known === undefined ? 'The answer could not be read.' : `${sentences(known)}. `}
        />
        {known !== undefined && known.status !== 0 && (
          <span className="muted">
            {known.status} {known.code}
          </span>
        )}
        {willRetry && ' It is asked again by itself.'}
      </p>
    </div>
  )
}

/** A code or a proof that is refused answers 403 too. */
const isForbidden = ({ status, code }: Problem, isRead: boolean): boolean =>
  status === 403 && (isRead || code === 'scope_missing')

/** A role that is missing is given by a member, and the advice of the API is about tokens. */
const sentences = ({ code, message }: Problem): string =>
  code === 'scope_missing'
    ? `${message.split('. ', 1)}. An owner or admin can change your role, under Members`
    : message.replace(/\.+$/, '')

const details = ({ status, code, message, requestId, at }: Problem): string =>
  [`${status} ${code}`, message, `request ${requestId ?? 'none'}`, at.toISOString()].join('\n')

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
