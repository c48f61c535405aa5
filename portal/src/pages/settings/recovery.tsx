// Recovery codes: how many are left, and new ones in place of all.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { changed, read } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { counted } from '#console/figures/time.ts'
import { RecoveryCodes } from '#console/parts/forms/codes.tsx'
import { Dialog } from '#console/parts/forms/dialog.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { Refusal } from '#console/parts/forms/refusal.tsx'

const FEW = 3

export function Recovery() {
  const query = useQuery(read('GET /v1/session', {}))
  const [codes, setCodes] = useState<readonly string[]>()
  const action = useAction(async () => {
    const made = await withTouch(() => call('POST /v1/recovery-codes', {}))
    setCodes(made.recovery_codes)
    await changed('GET /v1/session')
  })
  return (
    <Section title="Recovery codes">
      <Loaded query={query} what="the number of codes">
        {({ recovery_codes_left: left }) => (
          <p className={left <= FEW ? 'small warn' : 'small'}>
            {left === 0 ? 'No code is left' : `${counted(left, 'code')} left`}. Each lets you in
            once, when all your devices are lost.
          </p>
        )}
      </Loaded>
      <div className="tools after">
        <button type="button" className="btn" disabled={action.isBusy} onClick={action.run}>
          Make new codes
        </button>
        <span className="small muted">The ones from before end.</span>
      </div>
      <Refusal error={action.error} />
      {codes !== undefined && (
        <Dialog title="Keep these ten codes" onClose={() => setCodes(undefined)}>
          <RecoveryCodes codes={codes} onKept={() => setCodes(undefined)} />
        </Dialog>
      )}
    </Section>
  )
}
