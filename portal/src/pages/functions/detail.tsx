// One function: its address, four facts, the commands, its versions, its log, and what can be done to it.
import { Link } from '@tanstack/react-router'
import { Command } from '#console/parts/copy.tsx'
import { Loaded } from '#console/parts/loaded.tsx'
import { Section } from '#console/parts/section.tsx'
import { StateWord } from '#console/parts/state-word.tsx'
import { Head } from '#console/shell/head.tsx'
import { Actions } from './actions.tsx'
import { stateOf, type Deployed } from './function.ts'
import { FunctionFacts } from './function-facts.tsx'
import { Log } from './log.tsx'
import { useFunction } from './use-functions.ts'
import { Versions } from './versions.tsx'

export function Detail({ name }: { readonly name: string }) {
  const query = useFunction(name)
  return (
    <>
      <Head
        title={query.data?.name ?? name}
        crumb={
          <>
            <Link to="/functions">Functions</Link>
            {query.data !== undefined && ` / ${query.data.name} · region ${query.data.region}`}
          </>
        }
      >
        {query.data !== undefined && <StateWord {...stateOf(query.data)} />}
      </Head>
      <Loaded query={query} what="the function">
        {(one) => (
          <div className="stack wide">
            <Reason one={one} />
            <Command label="Address" text={one.url} />
            <FunctionFacts one={one} />
            <Deploy one={one} />
            <Versions one={one} />
            <Log one={one} />
            <Actions one={one} />
          </div>
        )}
      </Loaded>
    </>
  )
}

/** Who or what stopped it, and what starts it again. */
function Reason({ one: { status, reason, live_version: live } }: { readonly one: Deployed }) {
  if (status === 'suspended')
    return (
      <div className="note warn">
        <p>
          <b>Suspended{reason === null ? ' by hand' : `: ${reason}`}. </b>
          Callers get 503. Nothing is deleted, and nothing costs.{' '}
          {reason === null && 'Resume it below.'}
        </p>
      </div>
    )
  return reason === null ? null : (
    <div className={live === null ? 'note bad' : 'note warn'}>
      <p className="wrap-anywhere">
        <b>{live === null ? 'No version answers. ' : `Version ${live} goes on answering. `}</b>
        {reason}
      </p>
    </div>
  )
}

/** The next version. Variables are named, as their values are never shown again. */
const Deploy = ({ one: { name, versions, env } }: { readonly one: Deployed }) => (
  <Section title="Deploy another version">
    <div className="stack">
      <Command
        label="Deploy command"
        text={`ergon fn deploy ${versions[0]?.file ?? 'hello.ts'} --name ${name}`}
      />
      <p className="small">
        {env.length === 0 ? (
          'It has no variables.'
        ) : (
          <>
            Its variables stay: <span className="id wrap-anywhere">{env.join(', ')}</span>.
          </>
        )}{' '}
        A version that cannot be loaded never answers.
      </p>
    </div>
  </Section>
)
