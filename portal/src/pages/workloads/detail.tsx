// One workload: its address, four facts, its versions, the hours of its energy, its log, and what can be done to it.
import { Link } from '@tanstack/react-router'
import { call } from '#console/client/call.ts'
import { withTouch } from '#console/client/touch.ts'
import { bytesShort, share } from '#console/figures/amounts.ts'
import { Awake } from '#console/parts/resources/awake.tsx'
import { HourlyEnergy } from '#console/parts/resources/hourly-energy.tsx'
import { Command } from '#console/parts/page/copy.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { Stopped } from '#console/parts/resources/stopped.tsx'
import type { Column } from '#console/parts/page/table.tsx'
import { stateOf } from '#console/parts/resources/versioned.ts'
import { Versions } from '#console/parts/resources/versions.tsx'
import { Head } from '#console/shell/head.tsx'
import { Actions } from './actions.tsx'
import { WorkloadLog } from './log.tsx'
import { Settings } from './settings.tsx'
import { useEnergy, useIntervals, useWorkload, workloadsChanged } from './use-workloads.ts'
import { restCost, shortImage, type Version, type Workload } from './workload.ts'
import { WorkloadFacts } from './workload-facts.tsx'

export function Detail({ name }: { readonly name: string }) {
  const query = useWorkload(name)
  return (
    <>
      <Head
        title={query.data?.name ?? name}
        crumb={
          <>
            <Link to="/workloads">Workloads</Link>
            {query.data !== undefined && ` / ${query.data.name} · region ${query.data.region}`}
          </>
        }
      >
        {query.data !== undefined && <StateWord {...stateOf(query.data)} />}
      </Head>
      <Loaded query={query} what="the workload">
        {(one) => (
          <div className="stack wide">
            <Standing one={one} />
            <Command label="Address" text={one.url} />
            <WorkloadFacts one={one} />
            <Day one={one} />
            <WorkloadVersions one={one} />
            <Hours one={one} />
            <Settings one={one} />
            <WorkloadLog one={one} />
            <Actions one={one} />
          </div>
        )}
      </Loaded>
    </>
  )
}

/** Either how much of its image has come, or why it is not as it should be. */
function Standing({ one }: { readonly one: Workload }) {
  const { pull, live_version: live } = one
  if (pull === null || one.status === 'suspended')
    return <Stopped one={one} costs={restCost(one)} />
  const [done, total] = [BigInt(pull.done_bytes), BigInt(pull.total_bytes)]
  return (
    <div className="note warn">
      <p>
        <b>Its image is being pulled. </b>
        {total === 0n
          ? `${bytesShort(done)} so far`
          : `${share(done, total)} of ${bytesShort(total)}`}
        .{live !== null && ` Version ${live} goes on answering.`}
      </p>
    </div>
  )
}

const DIGEST: Column<Version> = {
  title: 'Digest',
  className: 'wide-only',
  cell: ({ digest }) => (
    <span className="id" title={digest ?? undefined}>
      {digest?.replace('sha256:', '').slice(0, 12)}
    </span>
  ),
}

const WorkloadVersions = ({ one }: { readonly one: Workload }) => (
  <Versions
    one={one}
    madeOf={({ image }) => <span title={image}>{shortImage(image)}</span>}
    columns={[DIGEST]}
    own="image, variables and size"
    rollBack={async (version) => {
      const asked = { path: { workload: one.id }, body: { version } }
      await withTouch(() => call('POST /v1/workloads/:workload/rollback', asked))
      await workloadsChanged()
    }}
  />
)

const Day = ({ one }: { readonly one: Workload }) => (
  <Awake
    query={useIntervals(one)}
    service="workloads"
    wakers={{ connection: 'a request', backup: 'a backup', change: 'a deployment or its scale' }}
    aside={`While it sleeps, only ${restCost(one)}; a request wakes it.`}
  />
)

const Hours = ({ one }: { readonly one: Workload }) => (
  <HourlyEnergy query={useEnergy(one)} service="workloads" />
)
