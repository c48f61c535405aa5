// A restore makes a new database, of the end of a backup or of a time. The other one stays as it is.
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { Field } from '#console/parts/forms/field.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'
import { When } from '#console/parts/time/when.tsx'
import type { Backup, Database } from './database.ts'
import { databasesChanged } from './use-databases.ts'

const NAME_MAX = 63
const AFTER = '-restored'
/** 2026-11-25T14:30:00, as a field of a time has it. */
const TIME_CHARACTERS = 19

export function Restore(props: {
  readonly database: Database
  /** Undefined: a time. */
  readonly backup: Backup | undefined
  /** The first time that can be restored. */
  readonly from: string | null
  readonly onClose: () => void
}) {
  const { database, backup, from, onClose } = props
  const router = useRouter()
  const [name, setName] = useState(database.name.slice(0, NAME_MAX - AFTER.length) + AFTER)
  const [time, setTime] = useState(() => new Date().toISOString().slice(0, TIME_CHARACTERS))
  const act = async () => {
    const of = backup === undefined ? { time: `${time}Z` } : { backup: backup.id }
    const made = await call('POST /v1/databases', {
      body: {
        name,
        from: { database: database.id, ...of },
      },
    })
    await databasesChanged()
    onClose()
    await router.navigate({ to: `/databases/${made.name}` })
  }
  return (
    <FormDialog title={`Restore ${database.name}`} verb="Restore it" act={act} onClose={onClose}>
      <p className="small">
        A new database, of the same room and budget
        {backup === undefined ? (
          ', with all that was there at that time'
        ) : (
          <>
            , as of <When at={backup.ended_at ?? backup.created_at} isExact />
          </>
        )}
        . {database.name} stays as it is. Of the roles the owner alone comes along, with a new
        password.
      </p>
      {backup === undefined && (
        <Field
          label="Time, UTC"
          name="from.time"
          type="datetime-local"
          step={1}
          required
          {...(from !== null && { min: from.slice(0, TIME_CHARACTERS) })}
          value={time}
          onChange={({ target }) => setTime(target.value)}
        />
      )}
      <Field
        label="Name of the new database"
        name="name"
        required
        maxLength={NAME_MAX}
        autoComplete="off"
        spellCheck={false}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
    </FormDialog>
  )
}
