import { expect, test } from 'vitest'
import { BackupEnv, backupLocation } from '../../../../tools/backups/operation.js'

test('a backup is in the server’s path, or in the bucket of the named collection, whose credentials only the server knows', () => {
  expect(backupLocation({}, 'monday')).toBe("File('monday')")
  expect(backupLocation({ BACKUP_S3: 'backups' }, 'monday')).toBe("S3(backups, 'monday')")
})

test('neither the name of a backup nor that of the collection becomes SQL', () => {
  expect(backupLocation({ BACKUP_S3: 'b' }, "a'), File('\\")).toBe("S3(b, 'a\\'), File(\\'\\\\')")
  expect(BackupEnv.safeParse({ BACKUP_S3: "b, 'x'" }).success).toBe(false)
})
