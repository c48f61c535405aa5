// Tokens: which can what, when each was last used, what it used today.
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { readPages, rowsOf } from '#console/client/queries.ts'
import { Command, loginCommand } from '#console/parts/page/copy.tsx'
import { Empty } from '#console/parts/page/empty.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { MoreRows } from '#console/parts/page/more-rows.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { Head } from '#console/shell/head.tsx'
import { NewToken } from './new-token.tsx'
import { TokenTable } from './token-table.tsx'
import './tokens.css'

export function Page() {
  const query = useInfiniteQuery(readPages('GET /v1/tokens', {}))
  const [isMaking, setMaking] = useState(false)
  const tokens = rowsOf(query.data)
  const make = (
    <button type="button" className="btn primary" onClick={() => setMaking(true)}>
      New token
    </button>
  )
  return (
    <>
      <Head title="Tokens">{tokens.length > 0 && make}</Head>
      {isMaking && <NewToken onClose={() => setMaking(false)} />}
      <Loaded query={query} what="the list of tokens">
        {() =>
          tokens.length === 0 ? (
            <Empty title="No tokens yet" command="ergon tokens create my-laptop" action={make}>
              A token lets a program ask in your name, as far as its scope goes.
            </Empty>
          ) : (
            <TokenTable tokens={tokens} />
          )
        }
      </Loaded>
      <MoreRows query={query} label="Older tokens" />
      <CommandLine />
    </>
  )
}

/** The commands that other pages print need it. */
const CommandLine = () => (
  <div className="command-line">
    <Section title="Command line">
      <div className="stack">
        <p className="small">
          Signs a terminal in: it shows a code, you approve it here, and it takes a token of its own
          for 90 days.
        </p>
        <Command text={loginCommand()} label="Command" />
      </div>
    </Section>
  </div>
)
