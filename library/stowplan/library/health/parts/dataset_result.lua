if status.phase == "SyncFailed" then
  local message = "The sync failed"
  for _, attempt in ipairs(status.attempts or {}) do
    if attempt.task == "sync" and attempt.state == "failed" then
      message = attempt.message or message
    end
  end
  return { status = "Degraded", message = message }
end
health.message = kept or messages[status.phase] or health.message
return health
