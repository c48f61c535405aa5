// The buckets, and what keeping all of it has cost today.
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { bytesExact, bytesShort } from '#console/figures/amounts.ts'
import { energyExact, energyShort } from '#console/figures/energy.ts'
import { Empty } from '#console/parts/page/empty.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { PROBE_WORDS, useProbe } from '#console/parts/ledger/use-probe.ts'
import { When } from '#console/parts/time/when.tsx'
import { Head } from '#console/shell/head.tsx'
import { NewBucket } from './new-bucket.tsx'
import { useBuckets, useKeeping } from './use-storage.ts'

export function Buckets() {
  const query = useBuckets()
  const probe = useProbe()
  const [isMaking, setMaking] = useState(false)
  const make = (
    <button type="button" className="btn primary" onClick={() => setMaking(true)}>
      New bucket
    </button>
  )
  return (
    <>
      <Head title="Storage">{(query.data?.data.length ?? 0) > 0 && make}</Head>
      {isMaking && <NewBucket onClose={() => setMaking(false)} />}
      <Loaded query={query} what="the list of buckets">
        {({ data: buckets }) =>
          buckets.length === 0 ? (
            <Empty title="No buckets yet" command="ergon storage create pictures" action={make}>
              A bucket keeps files. Every client of S3 can use it; what is kept costs by the minute.
            </Empty>
          ) : (
            <div className="stack">
              <Keeping />
              <table>
                <thead>
                  <tr>
                    <th scope="col">Bucket</th>
                    <th scope="col" className="num">
                      Stored
                    </th>
                    <th scope="col" className="num">
                      Made
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {buckets.map(({ name, stored_bytes, created_at }) => (
                    <tr key={name} data-row>
                      <td className="wrap-anywhere">
                        <Link to="/storage" search={{ bucket: name } as never}>
                          {name}
                        </Link>{' '}
                        {name === probe?.bucket && <span className="muted">{PROBE_WORDS}</span>}
                      </td>
                      <td className="num" title={bytesExact(BigInt(stored_bytes))}>
                        {bytesShort(BigInt(stored_bytes))}
                      </td>
                      <td className="num">
                        <When at={created_at} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </>
  )
}

function Keeping() {
  const nj = useKeeping()
  return (
    <p className="small" data-copy={nj === undefined ? undefined : energyExact(nj)}>
      {nj !== undefined && (
        <>
          Keeping all of it has cost <b title={energyExact(nj)}>{energyShort(nj)}</b> since 00:00
          UTC.
        </>
      )}
    </p>
  )
}
