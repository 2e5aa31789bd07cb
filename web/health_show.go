package web

import "github.com/gofiber/fiber/v2"

// healthShow says that the process answers.
func healthShow(r *request) error {
	r.Type("txt", "utf-8")
	return r.SendString("ok\n")
}

// readyShow says that the database answers and has our schema. Why it does not is
// in the log: the address needs no login.
func readyShow(r *request) error {
	ctx, cancel := r.timed()
	defer cancel()
	r.Type("txt", "utf-8")
	if err := r.d.db.CheckSchema(ctx); err != nil {
		r.d.log.Warn("dashboard: not ready", "error", err)
		r.Status(fiber.StatusServiceUnavailable)
		return r.SendString("the database does not answer or lacks the schema; see the log\n")
	}
	return r.SendString("ready\n")
}
