// The query box: one statement that reads, the most that it can cost before, its rows and joules after.
import { useQuery } from '@tanstack/react-query'
import { useRef, useState, type KeyboardEvent } from 'react'
import { costOf, type Cost } from '#console/chat/cost.ts'
import { send } from '#console/client/call.ts'
import { changed, read } from '#console/client/queries.ts'
import { ProblemNote } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import type { Database } from './database.ts'
import { costWords, mostWords, namedProblem } from './query-words.ts'
import { QueryRows, type QueryResult } from './query-rows.tsx'

const ROWS_MAX = 1000
const EXAMPLE = 'select * from information_schema.tables'

export function QueryBox({ database }: { readonly database: Database }) {
  const [sql, setSql] = useState('')
  const [answer, setAnswer] = useState<{ readonly result: QueryResult; readonly cost?: Cost }>()
  const running = useRef<AbortController>(undefined)
  const action = useAction(async () => {
    setAnswer(undefined)
    running.current = new AbortController()
    const response = await send('POST /v1/databases/:database/query', {
      path: { database: database.id },
      body: { sql, max_rows: ROWS_MAX },
      signal: running.current.signal,
    })
    const cost = costOf(response.headers)
    const result = (await response.json()) as QueryResult
    setAnswer({ result, ...(cost !== undefined && { cost }) })
    void changed('GET /v1/databases/:database/queries')
  })
  const canRun = sql.trim() !== '' && database.status === 'deployed' && !action.isBusy
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    if (canRun) action.run()
  }
  return (
    <Section title="Ask it" aside="One statement that reads, as a role that owns nothing.">
      <div className="stack">
        <textarea
          className="field sql"
          aria-label="SQL"
          rows={4}
          spellCheck={false}
          placeholder={EXAMPLE}
          value={sql}
          onChange={({ target }) => setSql(target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="tools">
          <button type="button" className="btn primary" disabled={!canRun} onClick={action.run}>
            Run
          </button>
          {action.isBusy && (
            <button type="button" className="btn" onClick={() => running.current?.abort()}>
              Stop
            </button>
          )}
          <Most database={database} />
        </div>
        {action.error !== undefined && (
          <ProblemNote error={namedProblem(action.error, database.name)} />
        )}
        {answer !== undefined && <After {...answer} />}
        {answer !== undefined && <QueryRows result={answer.result} />}
      </div>
    </Section>
  )
}

/** The ceiling, told before. */
function Most({ database }: { readonly database: Database }) {
  const { data } = useQuery(
    read('GET /v1/databases/:database/query/ceiling', { path: { database: database.id } }),
  )
  return (
    <span className="small">
      {data === undefined ? '' : `${mostWords(data)} `}Ctrl+Enter runs it.
    </span>
  )
}

function After({ result, cost }: { readonly result: QueryResult; readonly cost?: Cost }) {
  const { row_count: count } = result
  return (
    <p className="small" role="status">
      <b>
        {count} {count === 1 ? 'row' : 'rows'}
      </b>{' '}
      {costWords(result, cost)}
    </p>
  )
}
