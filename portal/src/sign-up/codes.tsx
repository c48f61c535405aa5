// Step 2: ten codes, shown only now.
import { useState } from 'react'
import { Copy } from '../parts/copy.tsx'
import { saveAs } from '../parts/save.ts'
import { forgetCodes, savedCodes } from './progress.ts'

export function Codes({ onDone }: { readonly onDone: () => void }) {
  const [codes] = useState(savedCodes)
  const text = `Ergon recovery codes of ${location.host}\n\n${codes.join('\n')}\n`
  const keep = () => {
    forgetCodes()
    onDone()
  }
  return (
    <>
      <h1>Keep these ten codes</h1>
      <p className="small">
        If all your devices are lost, one code lets you in once. They are shown only now.
      </p>
      <ol className="codes">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ol>
      <div className="tools">
        <button
          type="button"
          className="btn primary"
          onClick={() => saveAs('ergon-recovery-codes.txt', 'text/plain', text)}
        >
          Download
        </button>
        <Copy text={codes.join('\n')} />
        <button type="button" className="btn" onClick={keep}>
          I have kept them
        </button>
      </div>
    </>
  )
}
