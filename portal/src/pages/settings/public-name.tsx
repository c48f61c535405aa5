// How the service served this account, as the status page shows it to anyone under a name that says nothing.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { changed, read } from '#console/client/queries.ts'
import { share } from '#console/figures/amounts.ts'
import { grouped } from '#console/figures/digits.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'

type Rate = ReplyOf<'GET /v1/account/error-rate'>

export function PublicName() {
  const query = useQuery(read('GET /v1/account/error-rate', {}))
  const [isRenewing, setRenewing] = useState(false)
  return (
    <Section title="On the status page" aside="of your account, to anyone">
      <Loaded query={query} what="the error rate">
        {(rate) => (
          <div className="stack">
            <dl className="pairs">
              <dt>Public name</dt>
              <dd className="id">{rate.public_name ?? 'none before the first requests'}</dd>
              <dt>Errors of the last {rate.hours} hours</dt>
              <dd>{failuresOf(rate)}</dd>
              <dt>The status page</dt>
              <dd>{shownOf(rate)}</dd>
            </dl>
            <div className="tools">
              <button type="button" className="btn" onClick={() => setRenewing(true)}>
                New public name
              </button>
            </div>
          </div>
        )}
      </Loaded>
      {isRenewing && (
        <Confirm
          title="New public name"
          verb="Take a new name"
          onClose={() => setRenewing(false)}
          act={async () => {
            await call('PUT /v1/account/public-name', {})
            await changed('GET /v1/account/error-rate')
          }}
        >
          The old name leaves the status page, and nobody can tell that the new one is yours. Counts
          begin anew.
        </Confirm>
      )}
    </Section>
  )
}

const failuresOf = ({ failures, requests }: Rate): string => {
  const all = `${grouped(BigInt(requests))} ${requests === 1 ? 'request' : 'requests'}`
  if (failures === 0) return `none of ${all}`
  return `${grouped(BigInt(failures))} of ${all}: ${share(BigInt(failures), BigInt(requests))}`
}

const shownOf = ({ shown, requests_least }: Rate): string =>
  shown
    ? 'shows this rate, rounded, under the public name'
    : `shows nothing of it below ${requests_least} requests`
