// Step 2: ten codes, shown only now.
import { useState } from 'react'
import { RecoveryCodes } from '#console/parts/forms/codes.tsx'
import { forgetCodes, savedCodes } from './progress.ts'

export function Codes({ onDone }: { readonly onDone: () => void }) {
  const [codes] = useState(savedCodes)
  const keep = () => {
    forgetCodes()
    onDone()
  }
  return (
    <>
      <h1>Keep these ten codes</h1>
      <RecoveryCodes codes={codes} onKept={keep} />
    </>
  )
}
