// One deployment: its steps in the order of their needs, why some failed, and what it tells at its end.
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { When } from '#console/parts/time/when.tsx'
import { Head } from '#console/shell/head.tsx'
import { changesWords, isChanging, STATES, type Deployment } from './deployment.ts'
import { Cancel } from './cancel.tsx'
import { Steps } from './steps.tsx'
import { useDeployment } from './use-deployments.ts'

export function Detail({ id }: { readonly id: string }) {
  const query = useDeployment(id)
  return (
    <>
      <Head
        title={query.data === undefined ? id : `Deployment of ${query.data.stack}`}
        crumb={
          <>
            <Link to="/deployments">Deployments</Link>
            {query.data !== undefined && ` / ${query.data.id}`}
          </>
        }
      >
        {query.data !== undefined && <StateWord {...STATES[query.data.status]} />}
        {query.data?.status === 'running' && <Cancel one={query.data} />}
      </Head>
      <Loaded query={query} what="the deployment">
        {(one) => (
          <div className="stack wide">
            <Outcome one={one} />
            <p className="small">
              {changesWords(one)}, from <span className="id">{one.file}</span>, begun{' '}
              <When at={one.created_at} />
              {one.ended_at !== null && `, ${secondsOf(one.created_at, one.ended_at)}`}.{' '}
              <Link to="/deployments" search={{ stack: one.stack } as never}>
                All of this stack
              </Link>
            </p>
            <Section title="Steps" aside="in the order of their needs">
              <Steps steps={one.steps} file={one.file} />
            </Section>
            <Outputs one={one} />
          </div>
        )}
      </Loaded>
    </>
  )
}

/** It took 3.1 s. */
const secondsOf = (from: string, to: string): string =>
  `it took ${((Date.parse(to) - Date.parse(from)) / 1000).toFixed(1)} s`

function Outcome({ one: { status, steps } }: { readonly one: Deployment }) {
  const changing = steps.filter(isChanging)
  const count = (wanted: string) => changing.filter((step) => step.status === wanted).length
  if (status === 'running')
    return (
      <div className="note warn" role="status">
        <p>
          <b>
            {count('done')} of {changing.length} steps are done.{' '}
          </b>
          It goes on whether or not somebody looks.
        </p>
      </div>
    )
  if (status === 'done') return null
  const isCancelled = status === 'cancelled'
  return (
    <div className={isCancelled ? 'note warn' : 'note bad'}>
      <p>
        <b>
          {count('done')} done, {count('failed')} failed, {count('skipped')} not done.{' '}
        </b>
        What was done stays. {!isCancelled && 'Mend the file and deploy'}
        {isCancelled && 'Deploy'} again: only the differences are applied.
      </p>
    </div>
  )
}

function Outputs({ one: { outputs } }: { readonly one: Deployment }) {
  if (outputs.length === 0) return null
  return (
    <Section title="Outputs">
      <dl className="pairs">
        {outputs.map(({ name, value, sensitive, description }) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>
              {sensitive ? (
                <span className="muted">sensitive: never shown</span>
              ) : (
                <span className="id">
                  {typeof value === 'string' ? value : JSON.stringify(value)}
                </span>
              )}
              {description !== '' && <span className="tiny reason">{description}</span>}
            </dd>
          </Fragment>
        ))}
      </dl>
    </Section>
  )
}
