-- The least that settling asks of the store. KEYS: the fence record, the intent's record. ARGV: ticket, status, body.
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[2], 'state', 'applied', 'status', ARGV[2], 'body', ARGV[3])
redis.call('PEXPIRE', KEYS[2], 60000)
return { 'settled' }
