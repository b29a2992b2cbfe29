if status.phase == "Succeeded" then
  for _, condition in ipairs(status.conditions or {}) do
    if condition.type == "CacheTooSmall" and condition.status == "True" then
      message = "The cache is too small: " .. (condition.message or condition.reason)
    end
  end
  return { status = "Healthy", message = message or "The task succeeded" }
end
if status.phase == "Failed" then
  return { status = "Degraded", message = message or "The task failed" }
end
if stalled ~= nil then
  return { status = "Degraded", message = stalled }
end
message = kept or message or "The task is running"
return { status = scheduled and "Healthy" or "Progressing", message = message }
