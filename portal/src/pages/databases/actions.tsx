// What can be done to a database; what cannot be taken back comes last.
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { Confirm } from '#console/parts/confirm.tsx'
import { ProblemNote } from '#console/parts/loaded.tsx'
import { Section } from '#console/parts/section.tsx'
import { useAction } from '#console/parts/use-action.ts'
import { ChangeDatabase } from './change-database.tsx'
import type { Database } from './database.ts'
import { databasesChanged } from './use-databases.ts'

export function Actions({ database }: { readonly database: Database }) {
  const { id, name, status } = database
  const router = useRouter()
  const [doing, setDoing] = useState<'suspend' | 'change' | 'delete'>()
  const stop = () => setDoing(undefined)
  const suspend = async (suspended: boolean) => {
    await call('PATCH /v1/databases/:database', { path: { database: id }, body: { suspended } })
    await databasesChanged()
  }
  const resume = useAction(() => suspend(false))
  return (
    <Section title="Change it">
      <div className="tools">
        {status === 'suspended' ? (
          <button type="button" className="btn" disabled={resume.isBusy} onClick={resume.run}>
            Resume
          </button>
        ) : (
          <button type="button" className="btn" onClick={() => setDoing('suspend')}>
            Suspend
          </button>
        )}
        <button type="button" className="btn" onClick={() => setDoing('change')}>
          Room and budget
        </button>
        <button type="button" className="btn danger" onClick={() => setDoing('delete')}>
          Delete
        </button>
      </div>
      {resume.error !== undefined && <ProblemNote error={resume.error} />}
      {doing === 'change' && <ChangeDatabase database={database} onClose={stop} />}
      {doing === 'suspend' && (
        <Confirm
          title={`Suspend ${name}`}
          verb="Suspend it"
          onClose={stop}
          act={() => suspend(true)}
        >
          All connections end, and nobody can connect until it is resumed. Nothing is deleted;
          stored bytes still cost.
        </Confirm>
      )}
      {doing === 'delete' && (
        <Confirm
          title={`Delete ${name}`}
          verb="Delete it"
          name={name}
          onClose={stop}
          act={async () => {
            await call('DELETE /v1/databases/:database', { path: { database: id } })
            await databasesChanged()
            await router.navigate({ to: '/databases' })
          }}
        >
          All connections end and the data is deleted. While its backups last, a new database can be
          made from them.
        </Confirm>
      )}
    </Section>
  )
}
