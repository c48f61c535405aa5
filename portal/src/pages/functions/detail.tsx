// One function: its address, four facts, the commands, its versions, the hours of its energy, its triggers, its log, and
// its actions.
import { Link } from '@tanstack/react-router'
import { sourceName } from '#contract/functions/source-file.ts'
import { Awake } from '#console/parts/resources/awake.tsx'
import { HourlyEnergy } from '#console/parts/resources/hourly-energy.tsx'
import { Command } from '#console/parts/page/copy.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { Stopped } from '#console/parts/resources/stopped.tsx'
import { stateOf } from '#console/parts/resources/versioned.ts'
import { Head } from '#console/shell/head.tsx'
import { Actions } from './actions.tsx'
import type { Deployed } from './function.ts'
import { FunctionFacts } from './function-facts.tsx'
import { FunctionLog } from './log.tsx'
import { Triggers } from './triggers.tsx'
import { useEnergy, useIntervals, useFunction } from './use-functions.ts'
import { FunctionVersions } from './versions.tsx'

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
            <Stopped one={one} />
            <Command label="Address" text={one.url} />
            {one.routes.length > 0 && (
              <p className="small">
                It answers at these hosts too:{' '}
                <span className="id wrap-anywhere">{one.routes.join(', ')}</span>
              </p>
            )}
            <FunctionFacts one={one} />
            <Deploy one={one} />
            <Day one={one} />
            <FunctionVersions one={one} />
            <Hours one={one} />
            <Triggers one={one} />
            <FunctionLog one={one} />
            <Actions one={one} />
          </div>
        )}
      </Loaded>
    </>
  )
}

/** The next version. Variables are named, as their values are never shown again. */
const Deploy = ({ one: { name, versions, env } }: { readonly one: Deployed }) => (
  <Section title="Deploy another version">
    <div className="stack">
      <Command
        label="Deploy command"
        text={`ergon fn deploy ${sourceName(versions[0]?.file ?? 'hello.ts')} --name ${name}`}
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

const Day = ({ one }: { readonly one: Deployed }) => (
  <Awake
    query={useIntervals(one)}
    service="functions"
    wakers={{ connection: 'a request or a run', backup: 'a backup', change: 'a deployment' }}
    aside="While it sleeps, it costs nothing; a request or a run wakes it."
  />
)

const Hours = ({ one }: { readonly one: Deployed }) => (
  <HourlyEnergy query={useEnergy(one)} service="functions" />
)
