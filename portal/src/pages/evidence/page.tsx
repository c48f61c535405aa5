// Evidence packs: which there are, ready or not.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { changed, read, readPages, rowsOf } from '#console/client/queries.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { Empty } from '#console/parts/page/empty.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { MoreRows } from '#console/parts/page/more-rows.tsx'
import { Head } from '#console/shell/head.tsx'
import { NewPack } from './new-pack.tsx'
import { offeredDays, packCommand } from './pack-days.ts'
import { PackTable } from './pack-table.tsx'
import { isBeingMade, type Pack } from './pack.ts'

const PROGRESS_MS = 2_000
/** Packs are made at command lines too. */
const SHOWN_MS = 60_000

const commandOf = (madeAt: Date): string => {
  const now = new Date()
  return packCommand(offeredDays(now, madeAt), now)
}

export function Page() {
  const query = useInfiniteQuery({
    ...readPages('GET /v1/compliance/packs', {}),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some(isBeingMade)) ? PROGRESS_MS : SHOWN_MS,
  })
  const account = useQuery(read('GET /v1/account', {}))
  const packs = rowsOf(query.data)
  const [isMaking, setMaking] = useState(false)
  const [removing, setRemoving] = useState<Pack>()
  const make = (
    <button
      type="button"
      className="btn primary"
      disabled={account.data === undefined}
      onClick={() => setMaking(true)}
    >
      Make a pack
    </button>
  )
  return (
    <>
      <Head title="Evidence">{packs.length > 0 && make}</Head>
      {isMaking && account.data !== undefined && (
        <NewPack madeAt={new Date(account.data.created_at)} onClose={() => setMaking(false)} />
      )}
      <Loaded query={query} what="the list of packs">
        {() =>
          packs.length === 0 ? (
            <Empty
              title="No packs yet"
              command={account.data && commandOf(new Date(account.data.created_at))}
              action={make}
            >
              A pack is a zip file with all that an auditor needs of a time: ledger, receipts,
              methods, totals, and programs that check it without Ergon.
            </Empty>
          ) : (
            <PackTable packs={packs} onRemove={setRemoving} />
          )
        }
      </Loaded>
      <MoreRows query={query} label="Older packs" />
      {removing !== undefined && (
        <Confirm
          title="Delete the pack"
          verb="Delete it"
          onClose={() => setRemoving(undefined)}
          act={async () => {
            await call('DELETE /v1/compliance/packs/:pack', { path: { pack: removing.id } })
            await changed('GET /v1/compliance/packs')
          }}
        >
          {isBeingMade(removing)
            ? 'The work ends. What it has cost until now stays charged.'
            : 'Ledger and receipts stay; the pack can be made again.'}
        </Confirm>
      )}
    </>
  )
}
