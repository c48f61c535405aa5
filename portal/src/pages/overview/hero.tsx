// The register of today with the strip of now.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read, useIsOperator } from '#console/client/queries.ts'
import { asMuchAs } from '#console/figures/as-much-as.ts'
import { carbonShort } from '#console/figures/carbon.ts'
import { energyExact, energyShort, power } from '#console/figures/energy.ts'
import { moneyExact } from '#console/figures/money.ts'
import { clockExact } from '#console/figures/time.ts'
import { useLive } from '#console/live/use-live.ts'
import { useToday } from '#console/live/use-today.ts'
import { Band, Known } from '#console/parts/energy/known.tsx'
import { Waiting } from '#console/parts/page/loaded.tsx'
import { Register } from '#console/parts/energy/register.tsx'
import { markJoules, Strip } from '#console/parts/charts/strip.tsx'
import { useZone } from '#console/parts/time/zone.ts'
import { useUnit } from '#console/live/use-unit.ts'

export function Hero() {
  const today = useToday()
  const unit = useUnit()
  const status = useLive((state) => state.status)
  const total = useLive((state) => state.power?.total)
  if (today === undefined) return <Waiting what="today’s use" />
  const { figure, pusd, pg } = today
  const now = status === 'live' ? total : undefined
  return (
    <section className="plate hero" aria-label="Joules today">
      <div data-copy={energyExact(figure.nj)}>
        <p className="small muted">
          Joules today, since 00:00 UTC. Heavy digits go as far as the band; light ones lie inside
          it.
        </p>
        <Register figure={figure} isOld={status === 'offline'} />
        <OfProbes />
      </div>
      <dl className="side">
        <div>
          <dt>Money</dt>
          <dd>{moneyExact(pusd, unit)}</dd>
        </div>
        <div>
          <dt>Carbon</dt>
          <dd>{carbonShort(pg)}</dd>
        </div>
        <div>
          <dt>As much as</dt>
          <dd>{asMuchAs(figure.nj) ?? 'nothing yet'}</dd>
        </div>
      </dl>
      <Strip njPerS={now} />
      <div className="legend">
        <Legend now={now} />
        <span>
          <Known figure={figure} />
          <Band figure={figure} />
        </span>
      </div>
      {status === 'offline' && <Offline />}
    </section>
  )
}

/** The first account pays for the probes of the installation, also while its people do nothing. */
function OfProbes() {
  const isOperator = useIsOperator()
  const probe = useQuery({
    ...read('GET /v1/probe', {}),
    enabled: isOperator,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  })
  if (!isOperator || probe.data === undefined || probe.data.every_seconds === 0) return null
  return (
    <p className="small muted">
      This includes <Link to="/operator/probes">the probes of this installation</Link>, which this
      account pays for.
    </p>
  )
}

const MARKS: Readonly<Record<number, string>> = {
  1: 'One long mark passes for each joule.',
  10: 'One long mark passes for each 10 joules.',
  100: 'One long mark passes for each 100 joules.',
}

function Legend({ now }: { readonly now: bigint | undefined }) {
  const watching = useLive(({ watchingNj }) => watchingNj)
  if (now === undefined) return <span className="muted">The strip moves with your watts.</span>
  return (
    <span>
      <span>
        <b>{power(now)}</b> now. {MARKS[markJoules(now)]}
      </span>
      <span className="muted">
        {watching === undefined
          ? 'The price of looking is being measured.'
          : `Looking costs ${energyShort(watching)} a second.`}
      </span>
    </span>
  )
}

function Offline() {
  const at = useLive((state) => state.at)
  const zone = useZone()
  return (
    <div className="note warn" role="status">
      <p>
        <b>Not live{at !== undefined && ` since ${clockExact(at, zone)}`}.</b> What you see is from
        {at === undefined ? ' the last answer' : ' then'}. It goes on by itself.
      </p>
    </div>
  )
}
