// An answer that is too large for a child's standard output comes by a file, in parts.
import { expect, test } from 'claude-code/testing'

const NOTICE = `context-editor: ${'word '.repeat(1_000_000)}end.`

test('an answer in a file is read whole, part by part, and taken like any other', async ($, on) => {
  const text = JSON.stringify({ notice: NOTICE })
  const lengths: number[] = []
  const told: string[] = []

  on('session.id', () => ({ value: 's1' }))
  on('session.info', () => ({ value: { transcriptPath: '/t/s1.jsonl' } as never }))
  on('session.cwd', () => ({ value: '/p' }))
  on('session.usage', () => ({ value: { context: { window: 200_000 } } as never }))
  on('session.messages', () => ({ value: [] as never }))
  on('session.start', (_, e) => ({ cwd: e.cwd }) as never)
  on('process.hookEnv', () => ({ value: { CLAUDE_PLUGIN_DATA: '/d' } }))
  on('process.run', () => {
    const stdout = JSON.stringify({ file: '/d/sessions/s1/answer.json', bytes: text.length })

    return { value: { exitCode: 0, stdout, stderr: '', isStdoutTruncated: false, isStderrTruncated: false } }
  })
  on('fs.read', (_, e) => {
    const { offset = 0, length = 0 } = e as { offset?: number; length?: number }

    lengths.push(length)

    return { value: text.slice(offset, offset + length) as never }
  })
  on('ui.toast', (_, e) => {
    told.push(e.text)

    return { value: undefined }
  })
  on('ui.log', () => ({ value: undefined }))

  await $.session.start({ source: 'startup', cwd: '/p', surfaces: [] } as never)

  expect(told.length).toBe(1)
  expect(told[0]?.endsWith('end.')).toBe(true)
  expect(lengths.length).toBe(3)
  expect(Math.max(...lengths) < 4 * 1024 * 1024).toBe(true)
})
